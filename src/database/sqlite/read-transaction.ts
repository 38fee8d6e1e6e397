import type { DatabaseSync } from 'node:sqlite';

/**
 * One read transaction for all that is read in one go: by a callback of the event loop and the promises and ticks that wait
 * when it first reads. Beginning and ending one costs 9 µs of system calls, more than the look-up of a URL itself, and under
 * load all requests of a turn are answered in one go (`http/turn.ts`). It ends before the loop looks for more: nothing is held
 * while others wait, the write-ahead log can be folded back, and no answer is older than its question.
 */
export type ReadTransaction = {
  /** Before every statement. */
  begin(): void;
  /** The next statement sees what was written by now. */
  end(): void;
};

export function createReadTransaction(db: DatabaseSync): ReadTransaction {
  const begin = db.prepare('begin');
  const commit = db.prepare('commit');
  let isOpen = false;

  function end(): void {
    if (!isOpen) return;
    isOpen = false;
    if (db.isTransaction) commit.run(); // an error of the disk has ended it before
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
