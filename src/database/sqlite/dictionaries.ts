import { hostParts } from '../../core/domain-name.ts';
import { DEFAULT_TRUST_PERMILLE } from '../../core/evidence.ts';
import { foldFamily } from '../../core/text.ts';
import { createChangeWriter } from './changes.ts';
import type { Database } from './database.ts';
import { createDeferredKeys, type DeferredKeys } from './deferred-keys.ts';

export type Dictionaries = ReturnType<typeof createDictionaries>;

/** The dictionaries of `intelligence.db`, shared by all writes, and what the current transaction records for the change feed. */
export function createDictionaries(db: Database) {
  const changes = createChangeWriter(db);
  const keys = createDeferredKeys(db);
  const domains = createDomains(db, keys, (name) => changes.domain(name, 'add'));
  const hosts = createHosts(db, keys, domains);
  const reporters = createDictionary(db, 'reporters', 'name');
  const removals = createDictionary(db, 'removals', 'reason');
  const families = createDictionary(db, 'families', 'name', ['folded'], (name) => [foldFamily(name)]);
  const tags = createDictionary(db, 'tags', 'name', ['folded'], (name) => [foldFamily(name)]);
  const sources = createDictionary(db, 'sources', 'name', ['trust_permille'], () => [DEFAULT_TRUST_PERMILLE]);
  const all = [domains, hosts, reporters, removals, families, tags, sources];

  /** A transaction that forgets texts that were not added. Every write inside must be in `recorded`. */
  function together<T>(work: () => T): T {
    try {
      return db.batch(() => {
        keys.begin();
        return work();
      });
    } catch (error) {
      keys.forget();
      for (const dictionary of all) dictionary.clearCache();
      throw error;
    }
  }

  /** Numbers the changes of this work as those of one transaction, whatever else is in the same one. */
  function recorded<T>(work: () => T): T {
    hosts.forgetTransaction();
    changes.begin();
    const result = work();
    changes.write();
    return result;
  }

  return {
    domains,
    hosts,
    reporters,
    removals,
    families,
    tags,
    sources,
    changes,
    keys,

    /** Every transaction of `intelligence.db` must use this one, or the two that it consists of. */
    transaction: <T>(work: () => T): T => together(() => recorded(work)),
    together,
    recorded,
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
/** While all of them are in memory, which takes a little longer than the cache. */
const MAX_CACHED_KEYS = 5_000;

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
function createIds(find: (text: string) => number, maxCached = () => MAX_CACHED): Dictionary {
  const ids = new Map<string, number>();
  return {
    idOf(text) {
      const cached = ids.get(text);
      if (cached !== undefined) return cached;
      const id = find(text);
      if (ids.size >= maxCached()) ids.clear();
      ids.set(text, id);
      return id;
    },
    clearCache: () => ids.clear(),
  };
}

const ADD_DOMAIN = 'insert into domains (name) values (?) on conflict do nothing';
const FIND_DOMAIN = 'select id from domains where name = ?';

/** Most names that are not cached are new, so the insert comes first. */
function createDomains(db: Database, keys: DeferredKeys, onAdded: (name: string) => void): Dictionary {
  const add = db.prepare(ADD_DOMAIN);
  const find = db.prepare<[number]>(FIND_DOMAIN);

  function put(name: string): number {
    const id = add.insertNew(name);
    if (id === null) return find.one(name)[0];
    onAdded(name);
    return id;
  }

  return createNameIds('domains', keys, put);
}

/** `put` finds or adds a name with the help of the index. */
function createNameIds(table: 'hosts' | 'domains', keys: DeferredKeys, put: (name: string) => number): Dictionary {
  return createIds(
    (name) => keys.idOf(table, name, put),
    () => (keys.isUsed() ? MAX_CACHED_KEYS : MAX_CACHED),
  );
}

const ADD_HOST = 'insert into hosts (host, domain_id, ip) values (?, ?, ?) on conflict do nothing';
const FIND_HOST = 'select id from hosts where host = ?';
const FIND_DOMAIN_OF_HOST = 'select d.id, d.name from hosts h join domains d on d.id = h.domain_id where h.id = ?';

/** A row of `hosts` or `domains`. */
export type Named = { id: number; name: string };

/** Most hosts that are not cached are new, so the insert comes first. */
function createHosts(db: Database, keys: DeferredKeys, domains: Dictionary) {
  const add = db.prepare(ADD_HOST);
  const find = db.prepare<[number]>(FIND_HOST);
  const findDomain = db.prepare<[id: number, name: string]>(FIND_DOMAIN_OF_HOST);
  const ofHosts = new Map<number, Named | null>();
  const added = new Set<number>();

  const toDomain = (name: string | null): Named | null => (name === null ? null : { id: domains.idOf(name), name });

  function put(host: string): number {
    const { domain, ip } = hostParts(host);
    const ofHost = toDomain(domain);
    const id = add.insertNew(host, ofHost?.id ?? null, ip);
    if (id !== null) {
      ofHosts.set(id, ofHost);
      added.add(id);
    }
    return id ?? find.one(host)[0];
  }

  function storedDomain(id: number): Named | null {
    const row = findDomain.get(id);
    return row === undefined ? null : { id: row[0], name: row[1] };
  }

  return {
    ...createNameIds('hosts', keys, put),
    /**
     * The registrable domain of a host; null without one. Cached for one transaction. While all keys are in memory, this process
     * has added all hosts, by its own rules: to apply them again takes less time than to read the domain.
     */
    domainOf({ id, name }: Named): Named | null {
      let found = ofHosts.get(id);
      if (found === undefined) {
        found = keys.isUsed() ? toDomain(hostParts(name).domain) : storedDomain(id);
        ofHosts.set(id, found);
      }
      return found;
    },
    /** Whether this transaction has added the host. */
    isNew: (id: number) => added.has(id),
    /** Another process may set the domains of hosts between two transactions: `urlwarden domain rebuild`. */
    forgetTransaction(): void {
      ofHosts.clear();
      added.clear();
    },
  };
}
