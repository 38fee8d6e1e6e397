import { type CheckPassword, createPasswordCheck } from '../accounts/login.ts';
import { createSharedLoginFailures, createSharedLoginPenalty } from '../accounts/login-shared.ts';
import { createPasswordVerifier } from '../accounts/password-verifier.ts';
import type { Settings } from '../config/settings.ts';
import { everyMs } from '../core/every.ts';
import type { ListCopies } from '../exports/copies.ts';
import { type DatabaseWatch, watchDatabase } from '../health/database-watch.ts';
import type { Log, Outages } from '../health/outages.ts';
import { watchReplicas } from '../health/replica-watch.ts';
import type { Uploads } from '../ingest/uploads.ts';
import { type CountsPort, createSharedCounts, type SharedCounts } from '../limits/shared-counts.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type Counted, createTotals, type Totals } from '../portal/totals.ts';
import type { RedisLink } from '../redis/link.ts';
import { createServerAudit, type ServerAudit } from './audit.ts';
import type { Feeds } from './feeds.ts';
import { openListCopies } from './lists.ts';
import type { OpenParts } from './open-parts.ts';
import type { Control, Intelligence } from './stores.ts';

/**
 * What exists once in the process, on its first thread. The first thread uses these functions directly; on every other
 * thread each of them is a call of the first.
 */
export type Owner = {
  counts: CountsPort;
  checkPassword: CheckPassword;
  /** Throws `not_ready` when the database cannot answer. */
  ready(): Promise<void>;
  /** Returns true if the error belongs to an outage, which is logged once for all threads. */
  reportFailure(error: unknown): boolean;
  onAboveSoftLimit: ServerAudit['onAboveSoftLimit'];
  totals(): Counted | Promise<Counted>;
  receiveUpload: Uploads['receive'];
  wakeFeeds(): void;
  lists: ListCopies;
};

type OwnerParts = {
  settings: Settings;
  store: Intelligence;
  control: Control;
  redis: RedisLink | null;
  feeds: Feeds;
  uploads: Uploads;
  metrics: Metrics | undefined;
  log: Log;
  outages: Outages;
  now(): number;
  onFailure(task: 'usage_write' | 'totals_count'): (error: unknown) => void;
};

/** The owner, and those of its parts that the first thread uses itself. */
type OpenOwner = {
  owner: Owner;
  counts: SharedCounts;
  audit: ServerAudit;
  totals: Totals;
};

/** Adds what it opens to `open`. */
export function openOwner(parts: OwnerParts, open: OpenParts): OpenOwner {
  const { settings, store, control, redis, feeds, uploads, metrics, log, outages, now, onFailure } = parts;
  const counts = open.add(createSharedCounts(control, { nowMs: Date.now, onFlushFailed: onFailure('usage_write') }));
  const { verify } = open.add(createPasswordVerifier());
  const checkPassword = createPasswordCheck({
    store: control,
    nowMs: Date.now,
    verify,
    onOutcome(outcome) {
      metrics?.loginEnded(outcome);
      log.debug({ outcome }, 'login');
    },
    ...(redis && { failures: createSharedLoginFailures(redis), penalty: createSharedLoginPenalty(redis) }),
  });
  const audit = open.add(createServerAudit({ control, settings, log, outages, now }));
  const { ready } = open.add(watchStores(parts));
  const replicas = store.replicas?.() ?? [];
  if (replicas.length > 0) {
    const watch = open.add(watchReplicas({ replicas, log, every: everyMs })); // also without metrics, for the log
    metrics?.watchReplicas(watch.states);
  }
  const changes = async () =>
    JSON.stringify([await control.imports({ limit: 1 }), await store.lastIds(), await store.listVersion()]);
  const totals = open.add(createTotals({ store, now, changes, onFailure: onFailure('totals_count') }));
  const lists = open.add(openListCopies({ store, control, settings, metrics, outages, log, now }));
  const owner: Owner = {
    counts,
    checkPassword,
    ready,
    reportFailure: outages.report,
    onAboveSoftLimit: audit.onAboveSoftLimit,
    totals: totals.current,
    receiveUpload: uploads.receive,
    wakeFeeds: feeds.wake,
    lists,
  };
  return { owner, counts, audit, totals };
}

/** Checks both databases once a second, for readiness and metrics. */
function watchStores({ store, control, outages, metrics }: OwnerParts): DatabaseWatch {
  const check = () => Promise.all([store.ready(), control.version()]);
  const watch = watchDatabase({ check, outages, nowMs: () => performance.now(), every: everyMs });
  metrics?.watchDatabase(watch.isUp, outages.isDamaged);
  if (store.pools === undefined) {
    metrics?.watchDisk(store.freeBytes);
    metrics?.watchFiles(() => [store, control].flatMap(({ sizes }) => sizes?.() ?? []));
  }
  return watch;
}
