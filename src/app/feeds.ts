import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Settings } from '../config/settings.ts';
import { AppError } from '../core/errors.ts';
import { everyMs } from '../core/every.ts';
import { lastKnown } from '../health/last-known.ts';
import type { Log, Outages } from '../health/outages.ts';
import { createImportFeed } from '../ingest/feeds/feed-import.ts';
import type { FeedRun } from '../ingest/feeds/feed-run.ts';
import { feedState, pageState } from '../ingest/feeds/feed-state.ts';
import { type Schedule, startSchedule } from '../ingest/feeds/schedule.ts';
import type { Networks } from '../ingest/networks.ts';
import { inputLimitsOf } from '../ingest/sources/format.ts';
import type { FeedStore } from '../ingest/store.ts';
import { createUploads, type Uploads } from '../ingest/uploads.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Control, Intelligence } from './stores.ts';

type FeedParts = {
  store: Intelligence;
  control: Control;
  metrics: Metrics | undefined;
  log: Log;
  outages: Outages;
  settings: Settings;
  networks: Networks;
  /** Names from `--families`. */
  families: readonly string[];
  now(): number;
};

/** The feeds of this process. */
export type Feeds = {
  /** Fetches due feeds, now and until they are closed. */
  start(): void;
  /** Fetches due feeds now, if they were started. */
  wake(): void;
  close(): Promise<void>;
};

export function createFeeds(parts: FeedParts): Feeds {
  let schedule: Schedule | undefined;
  const wake = () => void schedule?.runDue();
  return {
    start() {
      schedule = scheduleOf(parts);
      wake();
    },
    wake,
    close: async () => schedule?.close(),
  };
}

function scheduleOf({ store, control, metrics, log, outages, settings, networks, families, now }: FeedParts): Schedule {
  const { resolvesHosts, allowReserved, feedsAllowPrivate: allowedNetworks } = settings;
  const gauges = async () =>
    (await control.feeds()).map((feed) => ({ ...feed, isStale: feedState(feed, now()) === 'stale' }));
  metrics?.watchFeeds(lastKnown(gauges, []));
  metrics?.watchData(lastKnown(async () => (await control.freshness()).confirmedTs, null));
  return startSchedule({
    control,
    importFeed: createImportFeed({
      store,
      control,
      networks,
      families,
      allowedNetworks,
      resolvesHosts,
      allowReserved,
      limits: inputLimitsOf(settings),
      now,
    }),
    now,
    random: Math.random,
    every: everyMs,
    owner: `${hostname()} ${process.pid} ${randomUUID()}`,
    onRun(feed, run) {
      metrics?.feedRan(feed, run.outcome);
      // Not `unavailable`, which may be the publisher's server.
      const isDamage = run.outcome === 'failed' && run.error instanceof AppError && run.error.code === 'damaged';
      if (!isDamage || !outages.report(run.error)) logRun(log, feed, run);
    },
    onFailure(err) {
      metrics?.failed('feed_poll');
      if (!outages.report(err)) log.warn({ err }, 'feeds could not be read');
    },
  });
}

type UploadParts = Pick<FeedParts, 'store' | 'control' | 'networks' | 'families' | 'settings' | 'now' | 'log'>;

/** Imports files that administrators upload, with the settings of feeds. */
export function openUploads({ settings, log, ...parts }: UploadParts): Uploads {
  const { resolvesHosts, allowReserved } = settings;
  return createUploads({
    ...parts,
    resolvesHosts,
    allowReserved,
    limits: inputLimitsOf(settings),
    onFailure: (err) => log.error({ err }, 'an uploaded file could not be imported'),
  });
}

/** A feed that cannot be fetched is an AppError and a warning. Any other error is a defect of the server. */
function logRun(log: Log, feed: string, run: FeedRun): void {
  // While one node fetches a feed, the others try it every few seconds.
  if (run.outcome === 'busy') log.debug({ feed }, 'a feed is fetched by another process');
  else if (run.outcome !== 'failed') log.info({ feed, outcome: run.outcome }, 'a feed ran');
  else if (run.error instanceof AppError) log.warn({ feed, reason: run.error.message }, 'a feed failed');
  else log.error({ feed, err: run.error }, 'a feed failed');
}

/** For `/readyz`, which is public. Errors are not included: they contain host names. */
export async function feedHealth(control: Pick<FeedStore, 'feeds'>, nowTs: number) {
  return (await control.feeds()).map((feed) => ({
    name: feed.name,
    state: feedState(feed, nowTs),
    last_success_ts: feed.lastSuccessTs,
  }));
}

/** For the first page, which every account sees. Neither errors nor URLs: both may contain secrets. */
export async function feedsOnPage(control: Pick<FeedStore, 'feeds'>, nowTs: number) {
  return (await control.feeds()).map((feed) => ({
    name: feed.name,
    format: feed.format,
    state: pageState(feed, nowTs),
    last_success_ts: feed.lastSuccessTs,
    rows: feed.rows,
  }));
}
