import { type Feed, type ImportOutcome, type ImportRecord, NO_COUNTS, type Reject } from './store.ts';

// Table rows of feeds, the same on both engines: booleans are 1 and 0, headers are one JSON object.

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
  trustPermille: number,
  lifeSeconds: number | null,
  dataset: Feed['dataset'],
  evidenceKind: Feed['evidenceKind'],
  listKind: Feed['listKind'],
];

const FEED_VALUES = `format, url, interval_seconds, headers, is_complete, is_paused, allows_private, etag, last_modified,
  last_run_ts, last_success_ts, last_error, next_run_ts, failures, rows, trust_permille, life_seconds, dataset,
  evidence_kind, list_kind`;

export const FEED_COLUMNS = `name, ${FEED_VALUES}`;

/**
 * No lease lasts this long, and the clocks of nodes differ by less. A lease that ends later was taken by a clock that was ahead:
 * if its process has ended, it would block the feed until that time.
 */
export const LEASE_MAX_SECONDS = 2 * 3_600;

/** After the insert of all columns: replaces the feed of this name. */
export const REPLACE_FEED = `on conflict (name) do update set
  ${FEED_VALUES.replaceAll(/\w+/g, '$& = excluded.$&')}`;

export function toFeed(row: FeedRow): Feed {
  const [name, format, url, intervalSeconds, headers, isComplete, isPaused, allowsPrivate, ...state] = row;
  const [etag, lastModified, lastRunTs, lastSuccessTs, lastError, nextRunTs, failures, rows, ...evidence] = state;
  const [trustPermille, lifeSeconds, dataset, evidenceKind, listKind] = evidence;
  return {
    name,
    format,
    url,
    intervalSeconds,
    headers: JSON.parse(headers),
    isComplete: isComplete === 1,
    isPaused: isPaused === 1,
    allowsPrivate: allowsPrivate === 1,
    trustPermille,
    lifeSeconds,
    dataset,
    evidenceKind,
    listKind,
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
    feed.trustPermille,
    feed.lifeSeconds,
    feed.dataset,
    feed.evidenceKind,
    feed.listKind,
  ];
}

// Table rows of imports and rejects, the same on both engines.

/** Imports stored per feed: four days for a feed that is fetched every hour. */
export const IMPORTS_KEPT = 100;

export type ImportRow = [
  id: number,
  format: string,
  feed: string,
  source: string,
  startedTs: number,
  finishedTs: number | null,
  outcome: ImportOutcome | null,
  counts: string,
  error: string | null,
  heartbeatTs: number | null,
];

export const IMPORT_COLUMNS = 'id, format, feed, source, started_ts, finished_ts, outcome, counts, error, heartbeat_ts';

export function toImport(row: ImportRow): ImportRecord {
  const [id, format, feed, source, startedTs, finishedTs, outcome, counts, error, heartbeatTs] = row;
  const all = { ...NO_COUNTS, ...JSON.parse(counts) }; // imports of an older program lack some of them
  return { id, format, feed, source, startedTs, finishedTs, outcome, counts: all, error, heartbeatTs };
}

export type RejectRow = [number: number, line: number, reason: string, text: string];

export const REJECT_COLUMNS = 'number, line, reason, text';

export function toReject([, line, reason, text]: RejectRow): Reject {
  return { line, reason, text };
}
