import { foldFamily } from '../../core/text.ts';
import type { Database } from '../../database/sqlite/database.ts';

export type Dictionaries = ReturnType<typeof createDictionaries>;

/** The dictionaries of the intelligence database, shared by all that is written to it. */
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

    /** For every transaction that may hand out ids. */
    transaction<T>(work: () => T): T {
      try {
        return db.transaction(work);
      } catch (error) {
        for (const dictionary of [hosts, reporters, removals, families]) dictionary.forget();
        throw error;
      }
    },
  };
}

/** Short strings that repeat, kept once each: text → id, made on first use. */
export type Dictionary = {
  idOf(text: string): number;
  /** To be called after a rollback: ids handed out in it are gone. */
  forget(): void;
};

/** Texts remembered in memory; hosts are the only dictionary that reaches it. */
const REMEMBERED = 50_000;

/** Further columns are derived from the text by `columns`. */
export function createDictionary(
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
      const known = ids.get(text);
      if (known !== undefined) return known;
      const id = find.get(text)?.[0] ?? add.insert(text, ...derive.map((of) => of(text)));
      if (ids.size >= REMEMBERED) ids.clear();
      ids.set(text, id);
      return id;
    },
    forget: () => ids.clear(),
  };
}
