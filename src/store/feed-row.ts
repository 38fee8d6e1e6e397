import type { Feed } from './control.ts';

// How a feed lies in a table, on every engine: yes and no are 1 and 0, headers are one JSON object.

export type FeedRow = [
  name: string,
  format: string,
  url: string,
  intervalSeconds: number,
  headers: string,
  isComplete: number,
  isPaused: number,
  allowsPrivate: number,
  etag: string | null,
  lastModified: string | null,
  lastRunTs: number | null,
  lastSuccessTs: number | null,
  lastError: string | null,
  nextRunTs: number,
  failures: number,
  rows: number | null,
];

export const FEED_COLUMNS = `name, format, url, interval_seconds, headers, is_complete, is_paused, allows_private, etag, last_modified,
  last_run_ts, last_success_ts, last_error, next_run_ts, failures, rows`;

export function toFeed(row: FeedRow): Feed {
  const [name, format, url, intervalSeconds, headers, isComplete, isPaused, allowsPrivate, ...state] = row;
  const [etag, lastModified, lastRunTs, lastSuccessTs, lastError, nextRunTs, failures, rows] = state;
  return {
    name,
    format,
    url,
    intervalSeconds,
    headers: JSON.parse(headers),
    isComplete: isComplete === 1,
    isPaused: isPaused === 1,
    allowsPrivate: allowsPrivate === 1,
    etag,
    lastModified,
    lastRunTs,
    lastSuccessTs,
    lastError,
    nextRunTs,
    failures,
    rows,
  };
}

export function toFeedRow(feed: Feed): FeedRow {
  return [
    feed.name,
    feed.format,
    feed.url,
    feed.intervalSeconds,
    JSON.stringify(feed.headers),
    Number(feed.isComplete),
    Number(feed.isPaused),
    Number(feed.allowsPrivate),
    feed.etag,
    feed.lastModified,
    feed.lastRunTs,
    feed.lastSuccessTs,
    feed.lastError,
    feed.nextRunTs,
    feed.failures,
    feed.rows,
  ];
}
