import type { Feed } from '../store.ts';
import { type Every, type FeedRun, type FeedRunOptions, runFeedOnce } from './feed-run.ts';

export type Schedule = {
  /** Runs all due feeds sequentially. During a run it returns the promise of that run. */
  runDue(): Promise<void>;
  /** Aborts the current download and waits until its current batch is written. */
  close(): Promise<void>;
};

export type ScheduleOptions = Omit<FeedRunOptions, 'signal'> & {
  /** Called after each run. */
  onRun?: (name: string, run: FeedRun) => void;
  /** Called if the list of feeds cannot be read; the next poll tries again. */
  onFailure?: (error: unknown) => void;
};

/** A feed starts at most this late: far less than the shortest interval. */
const POLL_MS = 5_000;

/**
 * Runs one feed at a time: two concurrent runs would share the one writer of the store and take as long. The next run
 * times are in the control data, so they survive a restart and nodes share the work.
 */
export function startSchedule(options: ScheduleOptions): Schedule {
  const { control, now, every, onRun = () => {}, onFailure = () => {} } = options;
  const stop = new AbortController();
  const isDue = (feed: Feed): boolean => !feed.isPaused && feed.nextRunTs <= now();
  let running: Promise<void> | null = null;

  async function runAll(): Promise<void> {
    const due = (await control.feeds()).filter(isDue).sort((a, b) => a.nextRunTs - b.nextRunTs);
    for (const { name } of due) {
      if (stop.signal.aborted) return;
      onRun(name, await runFeedOnce(name, isDue, { ...options, signal: stop.signal }));
    }
  }

  function runDue(): Promise<void> {
    running ??= runAll()
      .catch(onFailure)
      .finally(() => {
        running = null;
      });
    return running;
  }

  const endPolling = every(POLL_MS, () => void runDue());
  return {
    runDue,
    async close() {
      endPolling();
      stop.abort();
      await running;
    },
  };
}

/** A timer that does not keep the process alive. */
export const everyMs: Every = (ms, work) => {
  const timer = setInterval(work, ms).unref();
  return () => clearInterval(timer);
};
