import type { Every } from '../core/every.ts';
import type { DailyTask, DailyTaskStore } from '../database/daily-tasks.ts';

export type DailyTaskOptions = {
  control: DailyTaskStore;
  now(): number;
  every: Every;
  onFailure(error: unknown): void;
};

/** One of all servers does the work once a day; each of them asks this often whether it is time. */
const ASK_MS = 3_600_000;

/** `work` ends early when it `isClosed`. */
export function startDailyTask(
  task: DailyTask,
  { control, now, every, onFailure }: DailyTaskOptions,
  work: (nowTs: number, isClosed: () => boolean) => Promise<void>,
) {
  let isClosed = false;

  /** Waits for the work, if it is time for it. */
  async function runDue(): Promise<void> {
    try {
      const nowTs = now();
      if (await control.startDailyTask(task, nowTs)) await work(nowTs, () => isClosed);
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
