import { hostParts } from '../../core/domain-name.ts';
import { DEFAULT_TRUST_PERMILLE } from '../../core/evidence.ts';
import { foldFamily } from '../../core/text.ts';
import type { Database } from './database.ts';

export type Dictionaries = ReturnType<typeof createDictionaries>;

/** The dictionaries of `intelligence.db`, shared by all writes. */
export function createDictionaries(db: Database) {
  const domains = createDictionary(db, 'domains', 'name');
  const hosts = createDictionary(db, 'hosts', 'host', ['domain_id', 'ip'], (host) => {
    const { domain, ip } = hostParts(host);
    return [domain === null ? null : domains.idOf(domain), ip];
  });
  const reporters = createDictionary(db, 'reporters', 'name');
  const removals = createDictionary(db, 'removals', 'reason');
  const families = createDictionary(db, 'families', 'name', ['folded'], (name) => [foldFamily(name)]);
  const sources = createDictionary(db, 'sources', 'name', ['trust_permille'], () => [DEFAULT_TRUST_PERMILLE]);
  const all = [domains, hosts, reporters, removals, families, sources];
  return {
    domains,
    hosts,
    reporters,
    removals,
    families,
    sources,

    /** Every transaction that may add texts must use this one. */
    transaction<T>(work: () => T): T {
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
  const ids = new Map<string, number>();
  return {
    idOf(text) {
      const cached = ids.get(text);
      if (cached !== undefined) return cached;
      const id = find.get(text)?.[0] ?? add.insert(text, ...derive(text));
      if (ids.size >= MAX_CACHED) ids.clear();
      ids.set(text, id);
      return id;
    },
    clearCache: () => ids.clear(),
  };
}
