import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { feedState, nextAfterFailure, nextAfterSuccess } from '../../../src/ingest/feeds/feed-state.ts';
import { feedOf } from './feed-of.ts';

const MINUTE = 60;
const DAY = 86_400;
const NOW = 1_767_225_600;

describe('the next run of a feed', () => {
  const every = (intervalSeconds: number) => feedOf({ intervalSeconds });
  for (const { why, interval, started, now, next } of [
    {
      why: 'one interval after the start of the last run',
      interval: 300,
      started: NOW - 20,
      now: NOW,
      next: NOW + 280,
    },
    {
      why: 'immediately if the run took longer than the interval',
      interval: 300,
      started: NOW - 900,
      now: NOW,
      next: NOW,
    },
  ]) {
    test(why, () => assert.equal(nextAfterSuccess(every(interval), started, now), next));
  }

  for (const { why, interval, failures, random = 0, retryAfter = 0, delay } of [
    { why: 'first failure', interval: DAY, failures: 1, delay: 5 * MINUTE },
    { why: 'the delay doubles', interval: DAY, failures: 2, delay: 10 * MINUTE },
    { why: 'the delay doubles again', interval: DAY, failures: 5, delay: 80 * MINUTE },
    { why: 'up to the interval', interval: DAY, failures: 10, delay: DAY },
    { why: 'the first delay is at most the interval', interval: 60, failures: 1, delay: 60 },
    { why: 'up to an hour for a short interval', interval: 300, failures: 5, delay: 3_600 },
    { why: 'many failures do not overflow', interval: 300, failures: 5_000, delay: 3_600 },
    { why: 'jitter adds up to a quarter', interval: 300, failures: 1, random: 0.999999, delay: 375 },
    { why: 'jitter with random 0.5', interval: 300, failures: 1, random: 0.5, delay: 338 },
    { why: 'a longer Retry-After counts', interval: 300, failures: 1, retryAfter: 1_000, delay: 1_000 },
    { why: 'a shorter Retry-After is ignored', interval: 300, failures: 1, retryAfter: 1, delay: 300 },
    { why: 'Retry-After is limited to a day', interval: 300, failures: 1, retryAfter: 999_999, delay: DAY },
  ]) {
    test(`after a failure: ${why}`, () => {
      const next = nextAfterFailure({ intervalSeconds: interval, failures }, NOW, random, retryAfter);
      assert.equal(next - NOW, delay);
    });
  }
});

describe('the state of a feed', () => {
  const base = { intervalSeconds: 300, nextRunTs: NOW };
  for (const [why, feed, state] of [
    ['never run, due now', {}, 'new'],
    ['never run, due for three intervals', { nextRunTs: NOW - 900 }, 'new'],
    ['never run, due for longer', { nextRunTs: NOW - 901 }, 'stale'],
    ['fetched', { lastSuccessTs: NOW }, 'ok'],
    ['fetched three intervals ago', { lastSuccessTs: NOW - 900 }, 'ok'],
    ['fetched longer ago', { lastSuccessTs: NOW - 901 }, 'stale'],
    ['failed after a success', { lastSuccessTs: NOW - 400, failures: 1 }, 'failing'],
    ['failed too long after a success', { lastSuccessTs: NOW - 901, failures: 1 }, 'stale'],
    ['never succeeded, failed twice', { failures: 2, nextRunTs: NOW + 600 }, 'failing'],
    ['never succeeded, failed three times', { failures: 3, nextRunTs: NOW + 1_200 }, 'stale'],
    ['paused, however long ago', { isPaused: true, lastSuccessTs: 1, failures: 9 }, 'paused'],
  ] as const) {
    test(`${why}: ${state}`, () => assert.equal(feedState(feedOf({ ...base, ...feed }), NOW), state));
  }
});
