import { setImmediate } from 'node:timers/promises';
import type { AccountStore } from '../accounts/store.ts';
import { windowIndex } from '../core/quota.ts';
import { KEY_LIFE_SECONDS } from '../limits/redis-scripts.ts';
import type { UsageStore } from '../limits/store.ts';
import { type DailyTaskOptions, startDailyTask } from './daily-task.ts';

type CleanupOptions = DailyTaskOptions & {
  control: Pick<UsageStore, 'deleteOldUsage'> & Pick<AccountStore, 'removedAccounts'>;
  /** How many months before the current one are kept. */
  usageMonths: number;
  /** Deletes the counters of an account in Redis, if there is one. */
  deleteCounters: ((sub: string) => Promise<boolean>) | null;
};

/**
 * A removed account is remembered a day longer than any key in Redis lives, so that no new account with its sub meets old
 * counters.
 */
const REMEMBER_SECONDS = KEY_LIFE_SECONDS + 86_400;

/** Deletes usage that is too old or no longer needed, once a day. */
export function startUsageCleanup(options: CleanupOptions) {
  const { control, usageMonths, deleteCounters } = options;
  return startDailyTask('usage_cleanup', options, async (nowTs, isClosed) => {
    const before = { month: windowIndex('month', nowTs) - usageMonths, removedTs: nowTs - REMEMBER_SECONDS };
    while (!isClosed() && (await control.deleteOldUsage(before)) > 0) await setImmediate();
    if (deleteCounters === null || isClosed()) return;
    // A server may have counted for some seconds after the removal, or Redis did not answer then.
    const removed = await control.removedAccounts();
    for (const { sub, removedTs } of removed) {
      if (removedTs >= before.removedTs && !isClosed()) await deleteCounters(sub);
    }
  });
}
