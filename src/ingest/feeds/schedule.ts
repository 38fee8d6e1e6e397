import type { Feed } from '../store.ts';
import { type Every, type FeedRun, type FeedRunOptions, runFeedOnce } from './feed-run.ts';

export type Schedule = {
  /** Runs every feed that is due, one after the other. Does nothing while an earlier call is at it. */
  runDue(): Promise<void>;
  /** Calls off the download that runs, and waits until the batch that it has begun is written. */
  close(): Promise<void>;
};

export type ScheduleOptions = Omit<FeedRunOptions, 'signal'> & {
  /** Told of every run that was begun. */
  onRun?: (name: string, run: FeedRun) => void;
  /** Told when the feeds could not be looked at; they are looked at again. */
  onFailure?: (error: unknown) => void;
};

/** How late a feed may be: far less than the shortest interval. */
const LOOK_MS = 5_000;

/**
 * One run at a time in this process: two at once would share the one writer of the store, and take as long. What is due
 * and when is in the control data, so that a restart forgets nothing and nodes share the work.
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

  const endLooking = every(LOOK_MS, () => void runDue());
  return {
    runDue,
    async close() {
      endLooking();
      stop.abort();
      await running;
    },
  };
}

/** By the clock of this machine; does not keep the process from ending. */
export const everyMs: Every = (ms, work) => {
  const timer = setInterval(work, ms).unref();
  return () => clearInterval(timer);
};
