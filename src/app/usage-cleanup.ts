import { setImmediate } from 'node:timers/promises';
import type { AccountStore } from '../accounts/store.ts';
import { windowIndex } from '../core/quota.ts';
import type { DailyTaskStore } from '../database/daily-tasks.ts';
import { KEY_LIFE_SECONDS } from '../limits/redis-scripts.ts';
import type { UsageStore } from '../limits/store.ts';

type CleanupOptions = {
  control: DailyTaskStore & Pick<UsageStore, 'deleteOldUsage'> & Pick<AccountStore, 'removedAccounts'>;
  /** How many months before the current one are kept. */
  usageMonths: number;
  /** Deletes the counters of an account in Redis, if there is one. */
  deleteCounters: ((sub: string) => Promise<boolean>) | null;
  now(): number;
  every(ms: number, work: () => void): () => void;
  onFailure(error: unknown): void;
};

/** One of all servers does the work once a day; each of them asks this often whether it is time. */
const ASK_MS = 3_600_000;

/**
 * A removed account is remembered a day longer than any key in Redis lives, so that no new account with its sub meets old
 * counters.
 */
const REMEMBER_SECONDS = KEY_LIFE_SECONDS + 86_400;

/** Deletes usage that is too old or no longer needed, at the start, then once a day. */
export function startUsageCleanup(options: CleanupOptions) {
  const { control, usageMonths, deleteCounters, now, every, onFailure } = options;
  let isClosed = false;

  async function cleanUp(nowTs: number): Promise<void> {
    const before = { month: windowIndex('month', nowTs) - usageMonths, removedTs: nowTs - REMEMBER_SECONDS };
    while (!isClosed && (await control.deleteOldUsage(before)) > 0) await setImmediate();
    if (deleteCounters === null || isClosed) return;
    // A server may have counted for some seconds after the removal, or Redis did not answer then.
    const removed = await control.removedAccounts();
    for (const { sub, removedTs } of removed) {
      if (removedTs >= before.removedTs && !isClosed) await deleteCounters(sub);
    }
  }

  /** Waits for the work, if it is time for it. */
  async function runDue(): Promise<void> {
    try {
      const nowTs = now();
      if (await control.startDailyTask('usage_cleanup', nowTs)) await cleanUp(nowTs);
    } catch (error) {
      if (!isClosed) onFailure(error);
    }
  }

  const endAsking = every(ASK_MS, () => void runDue());
  return {
    runDue,
    /** Does not wait for the batch in progress: on a PostgreSQL that hangs it takes seconds, and it can be repeated. */
    close(): void {
      isClosed = true;
      endAsking();
    },
  };
}
