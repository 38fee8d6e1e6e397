import type { DatabaseSync } from 'node:sqlite';

/**
 * One read transaction for all reads in one callback of the event loop, including the promises and ticks that are queued at
 * its first read. Beginning and ending a transaction costs 9 µs of system calls, more than the lookup of a URL, and under
 * load requests are handled in batches (`http/request-batching.ts`). The transaction ends before the loop polls for new
 * events, so checkpoints of the write-ahead log are not blocked, and no response is older than its request.
 */
type ReadTransaction = {
  /** Called before every statement. */
  begin(): void;
  /** The next statement sees all writes up to now. */
  end(): void;
};

export function createReadTransaction(db: DatabaseSync): ReadTransaction {
  const begin = db.prepare('begin');
  const commit = db.prepare('commit');
  const rollback = db.prepare('rollback');
  let isOpen = false;

  function end(): void {
    if (!isOpen) return;
    isOpen = false;
    if (!db.isTransaction) return; // a disk error may have ended it
    try {
      commit.run();
    } catch {
      // A statement met a damaged page and has reported it. Nothing was written, so both end the transaction alike.
      if (db.isTransaction) rollback.run();
    }
  }

  return {
    begin() {
      if (isOpen) return;
      begin.run();
      isOpen = true;
      process.nextTick(end);
    },
    end,
  };
}
