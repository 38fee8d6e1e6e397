import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Policy } from '../../src/core/quota.ts';
import { createLimitHeaders } from '../../src/limits/limit-headers.ts';

const at = (text: string) => Date.parse(text) / 1000;
const DAY = 86_400;
const POLICIES: Policy[] = [
  { name: 'rl_qpm', window: 'minute', limit: 50 },
  { name: 'qmh', window: 'month', limit: 1_000 },
];
const counts = (minute: number, month: number) => ({ second: 0, minute, hour: 0, day: 0, month });

test('the headers have all policies, and the one with the smallest share left', () => {
  assert.deepEqual(createLimitHeaders()(POLICIES, counts(10, 10), at('2027-01-15T12:34:56Z')), {
    'ratelimit-policy': `"rl_qpm";q=50;w=60, "qmh";q=1000;w=${31 * DAY}`,
    ratelimit: '"rl_qpm";r=40;t=4',
  });
});

test('without a policy there are no headers', () => {
  assert.deepEqual(createLimitHeaders()([], counts(1, 1), 0), {});
});

test('the length of the month follows the time, also backwards, and each list of policies has its own text', () => {
  const headers = createLimitHeaders();
  const monthAt = (text: string, policies = POLICIES) => headers(policies, counts(0, 0), at(text))['ratelimit-policy'];
  const days = (length: number) => `"rl_qpm";q=50;w=60, "qmh";q=1000;w=${length * DAY}`;
  assert.equal(monthAt('2027-01-15T00:00:00Z'), days(31));
  assert.equal(monthAt('2027-01-31T23:59:59Z'), days(31));
  assert.equal(monthAt('2027-02-01T00:00:00Z'), days(28));
  assert.equal(monthAt('2027-01-31T23:59:59Z'), days(31));
  assert.equal(monthAt('2027-01-31T23:59:59Z', POLICIES.slice(0, 1)), '"rl_qpm";q=50;w=60');
});
