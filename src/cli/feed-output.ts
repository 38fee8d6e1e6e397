import { feedState } from '../ingest/feeds/feed-state.ts';
import { importChoices } from '../ingest/feeds/manage.ts';
import { shownUrl } from '../ingest/sources/fetch-url.ts';
import type { Feed } from '../ingest/store.ts';
import { spanText } from './time.ts';

/** A feed for programs; the keys are stable. Only the names of headers are shown, because a value may be a key. */
export function feedJson(feed: Feed, nowTs: number) {
  return {
    name: feed.name,
    state: feedState(feed, nowTs),
    format: feed.format,
    url: shownUrl(feed.url),
    headers: Object.keys(feed.headers),
    every_seconds: feed.intervalSeconds,
    ...importChoices(feed),
    last_run_ts: feed.lastRunTs,
    last_success_ts: feed.lastSuccessTs,
    last_error: feed.lastError,
    failures: feed.failures,
    rows: feed.rows,
    next_run_ts: feed.isPaused ? null : feed.nextRunTs,
  };
}

/** The state for people, such as `stale: no success for 2 h`. */
export function stateText(feed: Feed, nowTs: number): string {
  const state = feedState(feed, nowTs);
  if (state !== 'stale') return state;
  if (feed.lastSuccessTs === null) return 'stale: never fetched';
  return `stale: no success for ${spanText(nowTs - feed.lastSuccessTs)}`;
}
