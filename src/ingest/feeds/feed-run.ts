import { AppError } from '../../core/errors.ts';
import type { Validators } from '../sources/fetch.ts';
import type { Feed, FeedChange, FeedStore } from '../store.ts';
import { nextAfterFailure, nextAfterSuccess } from './feed-state.ts';

/** What fetching a feed once came to. `stopped`: by the signal; what was applied stays. */
export type FeedResult =
  | { outcome: 'imported'; rows: number; validators: Validators }
  | { outcome: 'not_modified' }
  | { outcome: 'stopped' };

/** Throws an AppError that says in words what went wrong, and nothing when it is stopped. */
export type RunFeed = (feed: Feed, signal: AbortSignal) => Promise<FeedResult>;

/** Calls `work` again and again; gives what ends that. */
export type Every = (ms: number, work: () => void) => () => void;

export type FeedRunOptions = {
  control: FeedStore;
  runFeed: RunFeed;
  /** Unix seconds. */
  now: () => number;
  /** In [0, 1). */
  random: () => number;
  every: Every;
  /** No other process has the same. */
  owner: string;
  signal: AbortSignal;
};

/**
 * `busy`: another process has the feed. `unwanted`: it is gone, paused, or somebody else has just run it.
 * `failed` is written down; what is no AppError is a defect of ours.
 */
export type FeedRun =
  | { outcome: 'imported' | 'not_modified'; feed: Feed; rows: number | null }
  | { outcome: 'failed'; feed: Feed; error: unknown }
  | { outcome: 'stopped' | 'busy' | 'unwanted' };

/** A process that is gone keeps its feed from the others for so long; one that runs asks for more in good time. */
const LEASE_SECONDS = 120;
const RENEW_MS = 30_000;

/** Runs a feed once, and writes down what came of it, if nobody else has it and it is wanted. */
export async function runFeedOnce(
  name: string,
  isWanted: (feed: Feed) => boolean,
  options: FeedRunOptions,
): Promise<FeedRun> {
  const { control, now, every, owner } = options;
  const lease = () => control.leaseFeed(name, owner, { nowTs: now(), untilTs: now() + LEASE_SECONDS });
  if (!(await lease())) return { outcome: 'busy' };
  const lost = new AbortController();
  const renew = () => lease().then((isOurs) => isOurs || lost.abort(), ignoreOnce);
  const endRenewal = every(RENEW_MS, () => void renew());
  try {
    const feed = await control.feed(name);
    if (feed === null || !isWanted(feed)) return { outcome: 'unwanted' };
    const turn = await runAndRecord(feed, AbortSignal.any([options.signal, lost.signal]), options);
    return lost.signal.aborted ? { outcome: 'busy' } : turn;
  } finally {
    endRenewal();
    await control.releaseFeed(name, owner);
  }
}

/** The lease is longer than four renewals: the next one is soon enough. */
function ignoreOnce(): void {}

async function runAndRecord(feed: Feed, signal: AbortSignal, options: FeedRunOptions): Promise<FeedRun> {
  const { control, runFeed, now, random } = options;
  const startedTs = now();
  try {
    const result = await runFeed(feed, signal);
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
  result: Exclude<FeedResult, { outcome: 'stopped' }>,
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

/** The validators stay: they belong to the newest answer that was imported whole. */
function failureOf(feed: Feed, error: unknown, startedTs: number, nowTs: number, random: number): FeedChange {
  const failures = feed.failures + 1;
  const retryAfter = error instanceof AppError ? error.retryAfterSeconds : undefined;
  return {
    lastRunTs: startedTs,
    lastError: error instanceof AppError ? error.message : 'Something unforeseen went wrong; the log has it',
    failures,
    nextRunTs: nextAfterFailure({ ...feed, failures }, nowTs, random, retryAfter),
  };
}
