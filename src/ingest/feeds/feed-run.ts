import { AppError } from '../../core/errors.ts';
import type { Every } from '../../core/every.ts';
import type { Validators } from '../sources/fetch.ts';
import type { Feed, FeedChange, FeedStore } from '../store.ts';
import { nextAfterFailure, nextAfterSuccess } from './feed-state.ts';

/** Result of one download and import. `stopped`: aborted by the signal; applied batches stay applied. */
export type FeedImportResult =
  | { outcome: 'imported'; rows: number; validators: Validators }
  | { outcome: 'not_modified' }
  | { outcome: 'stopped' };

/** Downloads and imports a feed. Throws an AppError on failure; returns `stopped` if the signal aborts. */
export type ImportFeed = (feed: Feed, signal: AbortSignal) => Promise<FeedImportResult>;

export type FeedRunOptions = {
  control: FeedStore;
  importFeed: ImportFeed;
  /** Unix seconds. */
  now: () => number;
  /** In [0, 1). */
  random: () => number;
  every: Every;
  /** Unique per process. */
  owner: string;
  signal: AbortSignal;
};

/**
 * Result of one run. `busy`: another process has the lease. `unwanted`: the feed was removed or paused, or another
 * process has just run it. `failed`: the failure is stored; an error that is not an AppError is a bug.
 */
export type FeedRun =
  | { outcome: 'imported' | 'not_modified'; feed: Feed; rows: number | null }
  | { outcome: 'failed'; feed: Feed; error: unknown }
  | { outcome: 'stopped' | 'busy' | 'unwanted' };

/** If a process dies, its feed is blocked for this long. A running process renews its lease. */
const LEASE_SECONDS = 120;
const RENEW_SECONDS = 30;
/**
 * How often it is checked whether the lease must be renewed, and so how soon a failed renewal is repeated. An import waits
 * up to 80 s for an unavailable database; its lease is renewed before another process can get it. An endless response is
 * read for this long after its feed was paused or removed.
 */
const CHECK_MS = 10_000;

/** Leases a feed, runs it if `isWanted`, and stores the result. */
export async function runFeedOnce(
  name: string,
  isWanted: (feed: Feed) => boolean,
  options: FeedRunOptions,
): Promise<FeedRun> {
  const { control, now, every, owner } = options;
  let leasedTs = now();
  const lease = async () => {
    const nowTs = now();
    const isOurs = await control.leaseFeed(name, owner, { nowTs, untilTs: nowTs + LEASE_SECONDS });
    if (isOurs) leasedTs = nowTs;
    return isOurs;
  };
  if (!(await lease())) return { outcome: 'busy' };
  const abort = new AbortController();
  let endedBy: 'busy' | 'unwanted' | null = null;
  const endBy = (outcome: 'busy' | 'unwanted') => {
    endedBy = outcome;
    abort.abort();
  };
  const renew = async () => {
    if (now() - leasedTs >= RENEW_SECONDS && !(await lease())) endBy('busy');
  };
  /** `feed run` runs a paused feed too. */
  const checkWanted = async ({ isPaused: wasPaused }: Feed) => {
    const feed = await control.feed(name);
    if (feed === null || (feed.isPaused && !wasPaused)) endBy('unwanted');
  };
  let endChecks = () => {};
  let checks: Promise<unknown> = Promise.resolve();
  try {
    const feed = await control.feed(name);
    if (feed === null || !isWanted(feed)) return { outcome: 'unwanted' };
    endChecks = every(CHECK_MS, () => {
      checks = Promise.all([checks, ...[renew, checkWanted].map((check) => check(feed).catch(leaseLasts))]);
    });
    const run = await runAndRecord(feed, AbortSignal.any([options.signal, abort.signal]), options);
    return endedBy === null ? run : { outcome: endedBy };
  } finally {
    endChecks();
    await checks; // a renewal that arrived after the release would lease the feed again
    await control.releaseFeed(name, owner).catch(leaseLasts); // thrown here, it would hide why the run failed
  }
}

/** For a failure of the database: a lease lasts long enough for the next check, and ends by itself. */
function leaseLasts(): void {}

async function runAndRecord(feed: Feed, signal: AbortSignal, options: FeedRunOptions): Promise<FeedRun> {
  const { control, importFeed, now, random } = options;
  const startedTs = now();
  try {
    const result = await importFeed(feed, signal);
    if (result.outcome === 'stopped') return { outcome: 'stopped' };
    await control.changeFeed(feed.name, successOf(feed, result, startedTs, now()));
    return { outcome: result.outcome, feed, rows: result.outcome === 'imported' ? result.rows : feed.rows };
  } catch (error) {
    await control.changeFeed(feed.name, failureOf(feed, error, startedTs, now(), random()));
    return { outcome: 'failed', feed, error };
  }
}

function successOf(
  feed: Feed,
  result: Exclude<FeedImportResult, { outcome: 'stopped' }>,
  startedTs: number,
  nowTs: number,
): FeedChange {
  return {
    ...(result.outcome === 'imported' && { rows: result.rows, ...result.validators }),
    lastRunTs: startedTs,
    lastSuccessTs: nowTs,
    lastError: null,
    failures: 0,
    nextRunTs: nextAfterSuccess(feed, startedTs, nowTs),
  };
}

/** Keeps the validators: they belong to the newest response that was imported completely. */
function failureOf(feed: Feed, error: unknown, startedTs: number, nowTs: number, random: number): FeedChange {
  const failures = feed.failures + 1;
  const retryAfter = error instanceof AppError ? error.retryAfterSeconds : undefined;
  return {
    lastRunTs: startedTs,
    lastError: error instanceof AppError ? error.message : 'Unexpected error: see the log of the process that ran it',
    failures,
    nextRunTs: nextAfterFailure({ ...feed, failures }, nowTs, random, retryAfter),
  };
}
