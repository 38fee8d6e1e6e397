import { foldFamily } from '../../core/family.ts';
import { createAnswers } from './answers.ts';
import type { Database } from './database.ts';
import { createDictionary } from './dictionary.ts';

export type Dictionaries = ReturnType<typeof createDictionaries>;

/** What all that is written to the intelligence database shares: its dictionaries, and the answers that it changes. */
export function createDictionaries(db: Database) {
  const hosts = createDictionary(db, 'hosts', 'host');
  const reporters = createDictionary(db, 'reporters', 'name');
  const removals = createDictionary(db, 'removals', 'reason');
  const families = createDictionary(db, 'families', 'name', { folded: foldFamily });
  const answers = createAnswers(db);
  return {
    hosts,
    reporters,
    removals,
    families,
    answers,

    /** For every transaction that may hand out ids or change an answer. */
    transaction<T>(work: () => T): T {
      try {
        return db.transaction(() => {
          const result = work();
          answers.makeNoted();
          return result;
        });
      } catch (error) {
        for (const dictionary of [hosts, reporters, removals, families]) dictionary.forget();
        answers.forget();
        throw error;
      }
    },
  };
}
