import type { Feed } from '../store.ts';

/** As shown by `feed list` and `/readyz?verbose`. */
type FeedState = 'ok' | 'new' | 'failing' | 'stale' | 'paused';

/** A feed without a success for this many intervals is stale. */
const STALE_INTERVALS = 3;

export function feedState(feed: Feed, nowTs: number): FeedState {
  if (feed.isPaused) return 'paused';
  if (isStale(feed, nowTs)) return 'stale';
  if (feed.failures > 0) return 'failing';
  return feed.lastSuccessTs === null ? 'new' : 'ok';
}

/** A feed without any success is measured from the time of its next run. */
function isStale(feed: Feed, nowTs: number): boolean {
  const { lastSuccessTs, nextRunTs, failures, intervalSeconds } = feed;
  const maxAge = STALE_INTERVALS * intervalSeconds;
  if (lastSuccessTs !== null) return nowTs - lastSuccessTs > maxAge;
  return failures >= STALE_INTERVALS || nowTs - nextRunTs > maxAge;
}

/** Clocks of nodes differ by much less. */
const AHEAD_SECONDS = 3_600;

/**
 * After a run in the future the next one is due too: it was planned by a clock that was ahead, and the feed would be silent
 * until that time. If it is the clock of another node that still is, this process runs the feed once in an interval.
 * `ranTs`: its last run.
 */
export function isFeedDue(feed: Feed, nowTs: number, ranTs = Number.NEGATIVE_INFINITY): boolean {
  const { isPaused, nextRunTs, lastRunTs, intervalSeconds } = feed;
  if (isPaused) return false;
  if (nextRunTs <= nowTs) return true;
  return lastRunTs !== null && lastRunTs > nowTs + AHEAD_SECONDS && Math.abs(nowTs - ranTs) >= intervalSeconds;
}

/** The interval counts from start to start. After a run longer than the interval the next run is due immediately. */
export function nextAfterSuccess({ intervalSeconds }: Feed, startedTs: number, nowTs: number): number {
  return Math.max(nowTs, startedTs + intervalSeconds);
}

/** Delay after the first failure. Publishers ask for at most one request in five minutes. */
const RETRY_SECONDS = 300;
/** Longest delay, so that a repaired feed is fetched soon. A feed with a longer interval waits its interval. */
const RETRY_MAX_SECONDS = 3_600;
/** Upper bound for the publisher's `Retry-After`. */
const RETRY_AFTER_MAX_SECONDS = 86_400;
/** Random share added to the delay, so that feeds that failed together are not retried together. */
const JITTER = 0.25;

/**
 * With an interval of a day: 5, 10, 20, 40, 80, … minutes plus up to a quarter of it at random, at most a day.
 * `failures` includes this failure; `random` is in [0, 1).
 */
export function nextAfterFailure(
  { intervalSeconds, failures }: Pick<Feed, 'intervalSeconds' | 'failures'>,
  nowTs: number,
  random: number,
  retryAfterSeconds = 0,
): number {
  const doubled = Math.min(RETRY_SECONDS, intervalSeconds) * 2 ** Math.min(failures - 1, 30);
  const delay = Math.min(doubled, Math.max(RETRY_MAX_SECONDS, intervalSeconds));
  const retryAfter = Math.min(retryAfterSeconds, RETRY_AFTER_MAX_SECONDS);
  return nowTs + Math.ceil(Math.max(delay, retryAfter) * (1 + JITTER * random));
}

/** A state for people. `late`: no success for three intervals. `failing`: the last run failed; the server retries. */
export const PAGE_STATES = ['healthy', 'late', 'failing', 'paused', 'new'] as const;
type PageState = (typeof PAGE_STATES)[number];

/** The state that commands, metrics and `/readyz` show, in the words of the pages. */
export function pageState(feed: Feed, nowTs: number): PageState {
  const state = feedState(feed, nowTs);
  if (state === 'ok') return 'healthy';
  return state === 'stale' ? 'late' : state;
}
