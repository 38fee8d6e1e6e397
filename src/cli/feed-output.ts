import type { Control } from '../app/stores.ts';
import type { Fields } from '../audit/entry.ts';
import { AppError } from '../core/errors.ts';
import { feedState } from '../ingest/feeds/feed-state.ts';
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
    complete: feed.isComplete,
    private: feed.allowsPrivate,
    trust: feed.trustPermille / 1000,
    life_seconds: feed.lifeSeconds,
    dataset: feed.dataset,
    kind: feed.evidenceKind,
    as: feed.listKind,
    last_run_ts: feed.lastRunTs,
    last_success_ts: feed.lastSuccessTs,
    last_error: feed.lastError,
    failures: feed.failures,
    rows: feed.rows,
    next_run_ts: feed.isPaused ? null : feed.nextRunTs,
  };
}

/** What an operator has set of a feed, for the audit log. */
export function feedFields(feed: Feed): Fields {
  return {
    format: feed.format,
    url: shownUrl(feed.url),
    headers: Object.keys(feed.headers),
    every_seconds: feed.intervalSeconds,
    paused: feed.isPaused,
    complete: feed.isComplete,
    private: feed.allowsPrivate,
    trust: feed.trustPermille / 1000,
    life_seconds: feed.lifeSeconds,
    dataset: feed.dataset,
    kind: feed.evidenceKind,
    as: feed.listKind,
  };
}

/** The state for people, such as `stale: no success for 2 h`. */
export function stateText(feed: Feed, nowTs: number): string {
  const state = feedState(feed, nowTs);
  if (state !== 'stale') return state;
  if (feed.lastSuccessTs === null) return 'stale: never fetched';
  return `stale: no success for ${spanText(nowTs - feed.lastSuccessTs)}`;
}

export async function requireFeed(control: Control, name: string): Promise<Feed> {
  const feed = await control.feed(name);
  if (feed !== null) return feed;
  throw new AppError('not_found', `There is no feed ${JSON.stringify(name)}. See: urlwarden feed list`);
}
