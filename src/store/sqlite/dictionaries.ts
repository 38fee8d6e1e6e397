import { foldFamily } from '../../core/family.ts';
import type { Database } from './database.ts';
import { createDictionary } from './dictionary.ts';

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
