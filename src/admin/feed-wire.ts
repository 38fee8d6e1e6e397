import { ADDRESS_DATASETS, DOMAIN_KINDS } from '../core/evidence.ts';
import { IntegerOrNull, StringOrNull, Timestamp } from '../http/scalars.ts';
import { type ObjectSchema, type Static, Type } from '../http/schema.ts';
import { IMPORTED_LIST_KINDS } from '../ingest/evidence.ts';
import { LIFE_MAX_SECONDS, LIFE_MIN_SECONDS, TRUST_MAX_PERMILLE } from '../ingest/evidence-choices.ts';
import { PAGE_STATES, pageState } from '../ingest/feeds/feed-state.ts';
import { EVERY_MAX_SECONDS, EVERY_MIN_SECONDS, type FeedValues, importChoices } from '../ingest/feeds/manage.ts';
import { importState } from '../ingest/import-state.ts';
import { checkHeader, shownUrl } from '../ingest/sources/fetch-url.ts';
import type { Feed, ImportRecord, ImportStore } from '../ingest/store.ts';
import { changedRows, ImportStateWord, wireImportState } from './imports.ts';

// Feeds as administrators send them and get them.

/** More than any publisher wants. */
const MAX_HEADERS = 20;
/** Longer than any real URL or key, and far below the limit of a body. */
const MAX_TEXT = 4_096;

export const FeedValuesRequest = {
  format: Type.Optional(Type.String()),
  url: Type.Optional(Type.String({ maxLength: MAX_TEXT })),
  interval_seconds: Type.Optional(Type.Integer({ minimum: EVERY_MIN_SECONDS, maximum: EVERY_MAX_SECONDS })),
  headers: Type.Optional(
    Type.Record(Type.String({ maxLength: MAX_TEXT }), {
      maxProperties: MAX_HEADERS,
      description: 'Headers to send, such as an access key. They are never shown.',
    }),
  ),
  complete: Type.Optional(Type.Boolean({ description: 'Each fetch lists everything that is online.' })),
  private: Type.Optional(Type.Boolean({ description: 'It is in a network that the server allows.' })),
  trust: Type.Optional(Type.Number({ minimum: 0, maximum: TRUST_MAX_PERMILLE / 1000 })),
  life_seconds: Type.Optional(
    Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: LIFE_MIN_SECONDS, maximum: LIFE_MAX_SECONDS }),
  ),
  dataset: Type.Optional(Type.Enum([...ADDRESS_DATASETS])),
  kind: Type.Optional(Type.Enum([...DOMAIN_KINDS])),
  as: Type.Optional(Type.Enum([...IMPORTED_LIST_KINDS])),
};

export function readHeaders(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => checkHeader(name, value.trim())));
}

type SentValues = Omit<Static<ObjectSchema<typeof FeedValuesRequest>>, 'headers'>;

export function toValues(sent: SentValues): FeedValues {
  return {
    format: sent.format,
    url: sent.url,
    intervalSeconds: sent.interval_seconds,
    isComplete: sent.complete,
    allowsPrivate: sent.private,
    trustPermille: sent.trust === undefined ? undefined : Math.round(sent.trust * 1000),
    lifeSeconds: sent.life_seconds,
    dataset: sent.dataset,
    evidenceKind: sent.kind,
    listKind: sent.as,
  };
}

/** Enough for a chart of two weeks of daily runs. */
const RUNS_SHOWN = 14;

const FeedRun = Type.Object({
  id: Type.Integer(),
  started_ts: Timestamp,
  finished_ts: IntegerOrNull,
  outcome: ImportStateWord,
  read: Type.Integer(),
  added: Type.Integer(),
  changed: Type.Integer(),
  rejected: Type.Integer(),
});

export const FeedResponse = Type.Object({
  name: Type.String(),
  format: Type.String(),
  url: Type.String({ description: 'Without its query, which may contain a key.' }),
  interval_seconds: Type.Integer(),
  complete: Type.Boolean(),
  paused: Type.Boolean(),
  private: Type.Boolean(),
  trust: Type.Number(),
  life_seconds: IntegerOrNull,
  dataset: StringOrNull,
  kind: StringOrNull,
  as: StringOrNull,
  state: Type.Enum([...PAGE_STATES]),
  last_run_ts: IntegerOrNull,
  last_success_ts: IntegerOrNull,
  last_error: StringOrNull,
  next_run_ts: IntegerOrNull,
  failures: Type.Integer(),
  rows: IntegerOrNull,
  running: Type.Boolean(),
  runs: Type.Array(FeedRun, { description: `The newest ${RUNS_SHOWN} imports, oldest first.` }),
});
export type FeedResponse = Static<typeof FeedResponse>;

type FeedPresentation = {
  control: Pick<ImportStore, 'imports'>;
  /** Unix seconds. */
  now(): number;
};

/** `leased`: the names of the feeds that are being fetched. */
export async function presentFeed(feed: Feed, leased: readonly string[], { control, now }: FeedPresentation) {
  const nowTs = now();
  const imports = await control.imports({ feed: feed.name, limit: RUNS_SHOWN });
  return {
    name: feed.name,
    format: feed.format,
    url: shownUrl(feed.url),
    interval_seconds: feed.intervalSeconds,
    ...importChoices(feed),
    paused: feed.isPaused,
    state: pageState(feed, nowTs),
    last_run_ts: feed.lastRunTs,
    last_success_ts: feed.lastSuccessTs,
    last_error: feed.lastError,
    next_run_ts: feed.isPaused ? null : feed.nextRunTs,
    failures: feed.failures,
    rows: feed.rows,
    running: leased.includes(feed.name),
    runs: imports.reverse().map((one) => presentRun(one, nowTs)),
  };
}

function presentRun(one: ImportRecord, nowTs: number) {
  return {
    id: one.id,
    started_ts: one.startedTs,
    finished_ts: one.finishedTs,
    outcome: wireImportState(importState(one, nowTs)),
    read: one.counts.read,
    added: one.counts.urlsAdded,
    changed: changedRows(one.counts),
    rejected: one.counts.rejected,
  };
}
