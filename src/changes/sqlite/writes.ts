import type { Database } from '../../database/sqlite/database.ts';
import { lastOldSeq } from '../page-rules.ts';

const OLDEST = 'select seq, ts from changes where seq > ? order by seq limit ?';

const DELETE = 'delete from changes where seq > ? and seq <= ?';

export type ChangeWrites = ReturnType<typeof createChangeWrites>;

/** The writes, which run on the writer thread of `intelligence.db`. */
export function createChangeWrites(db: Database) {
  const oldest = db.prepare<[seq: number, ts: number]>(OLDEST);
  const remove = db.prepare(DELETE);
  return {
    removeOldChanges: (beforeTs: number, after: number, limit: number): number | null =>
      db.transaction(() => {
        const last = lastOldSeq(oldest.all(after, limit), beforeTs);
        if (last !== null) remove.run(after, last);
        return last;
      }),
  };
}
