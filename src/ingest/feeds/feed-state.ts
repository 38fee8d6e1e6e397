import type { Feed } from '../store.ts';

/** In the words of lists and of `/readyz?verbose`. */
export type FeedState = 'ok' | 'new' | 'failing' | 'stale' | 'paused';

/** Without a success for so many intervals a feed is stale. */
const STALE_INTERVALS = 3;

/** After a first failure. Publishers ask not to be fetched from more often than every five minutes. */
const RETRY_SECONDS = 300;
/** However often it failed: somebody mends it, and it is wanted again soon. A feed with a longer interval waits that. */
const RETRY_MAX_SECONDS = 3_600;
/** Even where a publisher asks for more. */
const RETRY_AFTER_MAX_SECONDS = 86_400;
/** Part of the delay that chance adds, so that those who failed together do not come back together. */
const JITTER = 0.25;

/** From start to start; a run that took longer than the interval is followed at once. */
export function nextAfterSuccess({ intervalSeconds }: Feed, startedTs: number, nowTs: number): number {
  return Math.max(nowTs, startedTs + intervalSeconds);
}

/**
 * With an interval of a day: 5, 10, 20, 40, 80, … minutes and a quarter of it by chance, up to a day.
 * `failures` counts this one; `random` is in [0, 1).
 */
export function nextAfterFailure(
  { intervalSeconds, failures }: Pick<Feed, 'intervalSeconds' | 'failures'>,
  nowTs: number,
  random: number,
  retryAfterSeconds = 0,
): number {
  const doubled = Math.min(RETRY_SECONDS, intervalSeconds) * 2 ** Math.min(failures - 1, 30);
  const delay = Math.min(doubled, Math.max(RETRY_MAX_SECONDS, intervalSeconds));
  const asked = Math.min(retryAfterSeconds, RETRY_AFTER_MAX_SECONDS);
  return nowTs + Math.ceil(Math.max(delay, asked) * (1 + JITTER * random));
}

/** One that never succeeded has no time to count from but that of the run that is due. */
function isStale(feed: Feed, nowTs: number): boolean {
  const { lastSuccessTs, nextRunTs, failures, intervalSeconds } = feed;
  const patience = STALE_INTERVALS * intervalSeconds;
  if (lastSuccessTs !== null) return nowTs - lastSuccessTs > patience;
  return failures >= STALE_INTERVALS || nowTs - nextRunTs > patience;
}

export function feedState(feed: Feed, nowTs: number): FeedState {
  if (feed.isPaused) return 'paused';
  if (isStale(feed, nowTs)) return 'stale';
  if (feed.failures > 0) return 'failing';
  return feed.lastSuccessTs === null ? 'new' : 'ok';
}
