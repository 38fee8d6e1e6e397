import { setImmediate } from 'node:timers/promises';
import type { ChangeStore } from '../changes/store.ts';
import { DAY_SECONDS } from '../core/time.ts';
import type { DailyTaskStore } from '../database/daily-tasks.ts';

type CleanupOptions = {
  store: Pick<ChangeStore, 'removeOldChanges'>;
  control: DailyTaskStore;
  changeDays: number;
  now(): number;
  every(ms: number, work: () => void): () => void;
  onFailure(error: unknown): void;
};

/** One of all servers does the work once a day; each of them asks this often whether it is time. */
const ASK_MS = 3_600_000;

/** Rows deleted in one transaction: some milliseconds. */
const CHUNK_ROWS = 500;

/** Deletes old entries of the change feed at the start, then once a day. */
export function startChangeCleanup({ store, control, changeDays, now, every, onFailure }: CleanupOptions) {
  let isClosed = false;

  async function run(): Promise<void> {
    try {
      const nowTs = now();
      if (!(await control.startDailyTask('change_cleanup', nowTs))) return;
      const beforeTs = nowTs - changeDays * DAY_SECONDS;
      while (!isClosed && (await store.removeOldChanges(beforeTs, CHUNK_ROWS)) > 0) await setImmediate();
    } catch (error) {
      if (!isClosed) onFailure(error);
    }
  }

  const end = every(ASK_MS, () => void run());
  void run();
  return {
    close(): void {
      isClosed = true;
      end();
    },
  };
}
