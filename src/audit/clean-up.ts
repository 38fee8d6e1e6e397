import { DAY_SECONDS, timeText } from '../core/time.ts';
import type { DailyTaskStore } from '../database/daily-tasks.ts';
import { type Actor, changesOf } from './entry.ts';
import type { AuditStore, SoftLimitStore } from './store.ts';

type CleanUpOptions = {
  store: DailyTaskStore &
    Pick<AuditStore, 'removeOldAudit' | 'addAudit'> &
    Pick<SoftLimitStore, 'removeSoftLimitEvents'>;
  /** How long entries are kept. */
  months: number;
  actor: Actor;
  /** The server stops: the rest is deleted on the next day. */
  signal: AbortSignal;
};

/** Entries in one transaction: some ten milliseconds, so that no count waits for it. */
const BATCH_ROWS = 500;

/** An event prevents a second one in its month, and its webhook is given up after a day. */
const EVENT_LIFE_SECONDS = 62 * DAY_SECONDS;

/** Deletes entries that are older than the retention, once a day on one node. Returns how many. */
export async function cleanUpAudit({ store, months, actor, signal }: CleanUpOptions, nowTs: number): Promise<number> {
  if (!(await store.startDailyTask('audit_cleanup', nowTs))) return 0;
  const keepSinceTs = monthsBefore(nowTs, months);
  await store.removeSoftLimitEvents(nowTs - EVENT_LIFE_SECONDS);
  let entries = 0;
  for (let removed = BATCH_ROWS; removed === BATCH_ROWS && !signal.aborted; entries += removed) {
    removed = await store.removeOldAudit(keepSinceTs, BATCH_ROWS);
  }
  if (entries > 0) {
    const changes = changesOf({}, { entries, before: timeText(keepSinceTs) });
    await store.addAudit({ ts: nowTs, actor, action: 'audit.clean-up', subject: 'audit', changes });
  }
  return entries;
}

/** 31 March minus one month is 3 March, or 2 March in a leap year: some days more or less do not matter here. */
function monthsBefore(ts: number, months: number): number {
  const date = new Date(ts * 1000);
  date.setUTCMonth(date.getUTCMonth() - months);
  return Math.floor(date.getTime() / 1000);
}
