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
  /** The next statement sees all writes up to now. Never throws: it is called in a tick, where nobody could catch it. */
  end(): void;
  /**
   * A number that is another one after a write of another connection (https://www.sqlite.org/pragma.html#pragma_data_version),
   * for values that are kept from one transaction to the next. Asked once in a transaction: it costs 1 µs.
   */
  version(): number;
  /** To be called after a statement failed: SQLite refuses to commit after it has met a damaged page. */
  abandon(): void;
};

export function createReadTransaction(db: DatabaseSync): ReadTransaction {
  const begin = db.prepare('begin');
  const commit = db.prepare('commit');
  const rollback = db.prepare('rollback');
  const dataVersion = db.prepare('pragma data_version');
  let isOpen = false;
  /** Null: not asked in this transaction. */
  let version: number | null = null;

  function end(): void {
    if (!isOpen) return;
    isOpen = false;
    try {
      if (db.isTransaction) commit.run(); // a disk error may have ended it
    } catch {
      abandon();
    }
  }

  /** Nothing was written, so an error has no effect. The transaction is over in any case. */
  function abandon(): void {
    isOpen = false;
    try {
      if (db.isTransaction) rollback.run();
    } catch {}
  }

  function open(): void {
    if (isOpen) return;
    begin.run();
    isOpen = true;
    version = null;
    process.nextTick(end);
  }

  return {
    begin: open,
    version() {
      try {
        open();
        version ??= dataVersion.get()?.data_version as number;
        return version;
      } catch (error) {
        abandon();
        throw error;
      }
    },
    end,
    abandon,
  };
}
