import { setImmediate } from 'node:timers/promises';
import type { ChangeStore } from '../changes/store.ts';
import { DAY_SECONDS } from '../core/time.ts';

type CleanupOptions = {
  store: Pick<ChangeStore, 'removeOldChanges'>;
  changeDays: number;
  now(): number;
  every(ms: number, work: () => void): () => void;
  onFailure(error: unknown): void;
};

const EVERY_MS = 3_600_000;

/** Rows deleted in one transaction: some milliseconds. */
const CHUNK_ROWS = 500;

/** Deletes old entries of the change feed at the start, then once an hour. Every server does it: a second one finds nothing. */
export function startChangeCleanup({ store, changeDays, now, every, onFailure }: CleanupOptions) {
  let isClosed = false;

  async function run(): Promise<void> {
    try {
      const beforeTs = now() - changeDays * DAY_SECONDS;
      while (!isClosed && (await store.removeOldChanges(beforeTs, CHUNK_ROWS)) > 0) await setImmediate();
    } catch (error) {
      if (!isClosed) onFailure(error);
    }
  }

  const end = every(EVERY_MS, () => void run());
  void run();
  return {
    close(): void {
      isClosed = true;
      end();
    },
  };
}
