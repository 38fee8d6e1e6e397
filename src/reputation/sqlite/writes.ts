import type { Database } from '../../database/sqlite/database.ts';

export type ReputationWrites = ReturnType<typeof createReputationWrites>;

/** The writes, which run on the writer thread of `intelligence.db`. A separate file, so that the thread loads no reads. */
export function createReputationWrites(_db: Database) {
  return {};
}
