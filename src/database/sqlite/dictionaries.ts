import { hostParts } from '../../core/domain-name.ts';
import { DEFAULT_TRUST_PERMILLE } from '../../core/evidence.ts';
import { foldFamily } from '../../core/text.ts';
import type { Database } from './database.ts';

export type Dictionaries = ReturnType<typeof createDictionaries>;

/** The dictionaries of `intelligence.db`, shared by all writes. */
export function createDictionaries(db: Database) {
  const domains = createDomains(db);
  const hosts = createHosts(db, domains);
  const reporters = createDictionary(db, 'reporters', 'name');
  const removals = createDictionary(db, 'removals', 'reason');
  const families = createDictionary(db, 'families', 'name', ['folded'], (name) => [foldFamily(name)]);
  const tags = createDictionary(db, 'tags', 'name', ['folded'], (name) => [foldFamily(name)]);
  const sources = createDictionary(db, 'sources', 'name', ['trust_permille'], () => [DEFAULT_TRUST_PERMILLE]);
  const all = [domains, hosts, reporters, removals, families, tags, sources];
  return {
    domains,
    hosts,
    reporters,
    removals,
    families,
    tags,
    sources,

    /** Every transaction that may add texts must use this one. */
    transaction<T>(work: () => T): T {
      hosts.forgetDomains();
      try {
        return db.batch(work);
      } catch (error) {
        for (const dictionary of all) dictionary.clearCache();
        throw error;
      }
    },
  };
}

/** Strings that are stored once each, with an id. */
export type Dictionary = {
  /** Adds the text on first use. */
  idOf(text: string): number;
  /** To be called after a rollback, which removes the ids that were added. */
  clearCache(): void;
};

/** Texts cached per dictionary; only hosts and domains reach it. */
const MAX_CACHED = 50_000;

/** `more`: further columns, computed from the text by `derive`. */
function createDictionary(
  db: Database,
  table: string,
  column: string,
  more: readonly string[] = [],
  derive: (text: string) => (string | number | Uint8Array | null)[] = () => [],
): Dictionary {
  const names = [column, ...more];
  const find = db.prepare<[number]>(`select id from ${table} where ${column} = ?`);
  const add = db.prepare(`insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`);
  return createIds((text) => find.get(text)?.[0] ?? add.insert(text, ...derive(text)));
}

/** Caches the ids that `find` returns. */
function createIds(find: (text: string) => number): Dictionary {
  const ids = new Map<string, number>();
  return {
    idOf(text) {
      const cached = ids.get(text);
      if (cached !== undefined) return cached;
      const id = find(text);
      if (ids.size >= MAX_CACHED) ids.clear();
      ids.set(text, id);
      return id;
    },
    clearCache: () => ids.clear(),
  };
}

const ADD_DOMAIN = 'insert into domains (name) values (?) on conflict do nothing';
const FIND_DOMAIN = 'select id from domains where name = ?';

/** Most names that are not cached are new, so the insert comes first. */
function createDomains(db: Database): Dictionary {
  const add = db.prepare(ADD_DOMAIN);
  const find = db.prepare<[number]>(FIND_DOMAIN);
  return createIds((name) => add.insertNew(name) ?? find.one(name)[0]);
}

const ADD_HOST = 'insert into hosts (host, domain_id, ip) values (?, ?, ?) on conflict do nothing';
const FIND_HOST = 'select id from hosts where host = ?';
const FIND_DOMAIN_OF_HOST = 'select domain_id from hosts where id = ?';

/** Most hosts that are not cached are new, so the insert comes first. */
function createHosts(db: Database, domains: Dictionary) {
  const add = db.prepare(ADD_HOST);
  const find = db.prepare<[number]>(FIND_HOST);
  const findDomain = db.prepare<[number | null]>(FIND_DOMAIN_OF_HOST);
  const domainIds = new Map<number, number | null>();
  const ids = createIds((host) => {
    const { domain, ip } = hostParts(host);
    const domainId = domain === null ? null : domains.idOf(domain);
    const id = add.insertNew(host, domainId, ip);
    if (id !== null) domainIds.set(id, domainId);
    return id ?? find.one(host)[0];
  });
  return {
    ...ids,
    /** The id of the registrable domain of a host; null without one. Cached for one transaction. */
    domainOf(id: number): number | null {
      let domainId = domainIds.get(id);
      if (domainId === undefined) {
        domainId = findDomain.get(id)?.[0] ?? null;
        domainIds.set(id, domainId);
      }
      return domainId;
    },
    /** Another process may set the domains of hosts between two transactions: `urlwarden domain rebuild`. */
    forgetDomains: () => domainIds.clear(),
  };
}
