/** What one of all servers does once a day. */
export type DailyTask = 'usage_cleanup' | 'change_cleanup' | 'audit_cleanup';

export type DailyTaskStore = {
  /** True for one caller on all nodes, once in 24 hours; after a pause of more than two days, 24 hours later. */
  startDailyTask(task: DailyTask, nowTs: number): Promise<boolean>;
};

/** A server asks once an hour, so the work is done every 24 to 25 hours. */
export const DAILY_SECONDS = 86_400;
/**
 * After a longer pause the work is done a day later: the clock may be ahead, and what is deleted cannot be brought back. A
 * right clock does not wait, because a time in the future is ignored.
 */
export const MAX_PAUSE_SECONDS = 2 * DAILY_SECONDS;
