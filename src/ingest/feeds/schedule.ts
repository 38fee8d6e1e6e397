import type { Feed } from '../store.ts';
import { type FeedRun, type FeedRunOptions, runFeedOnce } from './feed-run.ts';
import { isFeedDue } from './feed-state.ts';

export type Schedule = {
  /** Runs all due feeds, and waits for all runs. */
  runDue(): Promise<void>;
  /** Aborts the current downloads and waits until their current batches are written. */
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

/** Two, so that a slow publisher does not hold up the other feeds. More would only share the one writer of the store. */
const MAX_RUNS = 2;
/** A run that takes longer no longer holds up the others: an endless response is read for two hours, real ones for minutes. */
const HOLDS_UP_MS = 10 * 60_000;

/** The next run times are in the control data, so they survive a restart and nodes share the work. */
export function startSchedule(options: ScheduleOptions): Schedule {
  const { control, now, every, onRun = () => {}, onFailure = () => {} } = options;
  const stop = new AbortController();
  /** By name: when this process ran the feed. */
  const ranTs = new Map<string, number>();
  const isDue = (feed: Feed): boolean => isFeedDue(feed, now(), ranTs.get(feed.name));
  const running = new Map<string, Promise<void>>();
  /** The newest runs, for which the next ones wait. */
  const holdingUp = new Set<Promise<void>>();
  let starting: Promise<void> | null = null;

  async function run(name: string): Promise<void> {
    const run = await runFeedOnce(name, isDue, { ...options, signal: stop.signal });
    if (run.outcome !== 'busy' && run.outcome !== 'unwanted') ranTs.set(name, now());
    onRun(name, run);
  }

  async function startDue(): Promise<void> {
    const due = (await control.feeds()).filter(isDue).sort((a, b) => a.nextRunTs - b.nextRunTs);
    for (const { name } of due) {
      if (running.has(name)) continue;
      while (holdingUp.size === MAX_RUNS) await Promise.race(holdingUp);
      if (stop.signal.aborted) return;
      const ended = run(name)
        .catch(onFailure)
        .finally(() => running.delete(name));
      running.set(name, ended);
      const held = untilLong(ended).finally(() => holdingUp.delete(held));
      holdingUp.add(held);
    }
  }

  function untilLong(ended: Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const endWait = every(HOLDS_UP_MS, resolve);
    return Promise.race([ended, promise]).finally(endWait);
  }

  async function runDue(): Promise<void> {
    starting ??= startDue()
      .catch(onFailure)
      .finally(() => {
        starting = null;
      });
    await starting;
    await Promise.all(running.values());
  }

  const endPolling = every(POLL_MS, () => void runDue());
  return {
    runDue,
    async close() {
      endPolling();
      stop.abort();
      await starting;
      await Promise.all(running.values());
    },
  };
}
