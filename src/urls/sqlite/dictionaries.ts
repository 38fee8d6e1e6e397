import { foldFamily } from '../../core/text.ts';
import type { Database } from '../../database/sqlite/database.ts';

export type Dictionaries = ReturnType<typeof createDictionaries>;

/** The dictionaries of `intelligence.db`, shared by all writes. */
export function createDictionaries(db: Database) {
  const hosts = createDictionary(db, 'hosts', 'host');
  const reporters = createDictionary(db, 'reporters', 'name');
  const removals = createDictionary(db, 'removals', 'reason');
  const families = createDictionary(db, 'families', 'name', { folded: foldFamily });
  return {
    hosts,
    reporters,
    removals,
    families,

    /** Every transaction that may add texts must use this one. */
    transaction<T>(work: () => T): T {
      try {
        return db.batch(work);
      } catch (error) {
        for (const dictionary of [hosts, reporters, removals, families]) dictionary.clearCache();
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

/** Texts cached per dictionary; only hosts reach it. */
const MAX_CACHED = 50_000;

/** `columns`: further columns, computed from the text. */
function createDictionary(
  db: Database,
  table: string,
  column: string,
  columns: Record<string, (text: string) => string> = {},
): Dictionary {
  const names = [column, ...Object.keys(columns)];
  const find = db.prepare<[number]>(`select id from ${table} where ${column} = ?`);
  const add = db.prepare(`insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`);
  const derive = Object.values(columns);
  const ids = new Map<string, number>();
  return {
    idOf(text) {
      const cached = ids.get(text);
      if (cached !== undefined) return cached;
      const id = find.get(text)?.[0] ?? add.insert(text, ...derive.map((of) => of(text)));
      if (ids.size >= MAX_CACHED) ids.clear();
      ids.set(text, id);
      return id;
    },
    clearCache: () => ids.clear(),
  };
}
