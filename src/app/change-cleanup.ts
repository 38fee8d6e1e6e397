import { setImmediate } from 'node:timers/promises';
import type { ChangeStore } from '../changes/store.ts';
import { DAY_SECONDS } from '../core/time.ts';
import { type DailyTaskOptions, startDailyTask } from './daily-task.ts';

type CleanupOptions = DailyTaskOptions & {
  store: Pick<ChangeStore, 'removeOldChanges'>;
  changeDays: number;
};

/** Rows deleted in one transaction: some milliseconds. */
const CHUNK_ROWS = 500;

/** Deletes old entries of the change feed once a day. */
export function startChangeCleanup({ store, changeDays, ...options }: CleanupOptions) {
  return startDailyTask('change_cleanup', options, async (nowTs, isClosed) => {
    const beforeTs = nowTs - changeDays * DAY_SECONDS;
    let after: number | null = 0;
    while (after !== null && !isClosed()) {
      after = await store.removeOldChanges(beforeTs, after, CHUNK_ROWS);
      await setImmediate();
    }
  });
}
