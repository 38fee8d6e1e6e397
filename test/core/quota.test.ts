import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Policy,
  refusingStanding,
  tightestStanding,
  type WindowName,
  windowEnd,
  windowIndex,
  windowSeconds,
} from '../../src/core/quota.ts';

const at = (text: string) => Date.parse(text) / 1000;

for (const [window, ts, end, seconds] of [
  ['second', '2026-11-15T12:34:56Z', '2026-11-15T12:34:57Z', 1],
  ['minute', '2026-11-15T12:34:56Z', '2026-11-15T12:35:00Z', 60],
  ['hour', '2026-11-15T12:34:56Z', '2026-11-15T13:00:00Z', 3_600],
  ['day', '2026-11-15T12:34:56Z', '2026-11-16T00:00:00Z', 86_400],
  ['month', '2026-11-15T12:34:56Z', '2026-12-01T00:00:00Z', 30 * 86_400],
  ['month', '2026-12-31T23:59:59Z', '2027-01-01T00:00:00Z', 31 * 86_400],
  ['month', '2027-01-01T00:00:00Z', '2027-02-01T00:00:00Z', 31 * 86_400],
  ['month', '2028-02-29T00:00:00Z', '2028-03-01T00:00:00Z', 29 * 86_400],
  ['month', '1970-01-01T00:00:00Z', '1970-02-01T00:00:00Z', 31 * 86_400],
] as [WindowName, string, string, number][]) {
  test(`the ${window} of ${ts}`, () => {
    assert.equal(windowEnd(window, at(ts)), at(end));
    assert.equal(windowSeconds(window, at(ts)), seconds);
    assert.equal(windowIndex(window, at(end)), windowIndex(window, at(ts)) + 1);
    assert.equal(windowIndex(window, at(end) - 1), windowIndex(window, at(ts)));
  });
}

const TS = at('2026-11-15T12:34:56Z');
const POLICIES: Policy[] = [
  { name: 'rl_qps', window: 'second', limit: 5 },
  { name: 'rl_qpm', window: 'minute', limit: 50 },
  { name: 'qmh', window: 'month', limit: 1_000 },
];
const counts = (second: number, minute: number, month: number) => ({ second, minute, month, hour: 0, day: 0 });

for (const { why, of, refusing } of [
  { why: 'nothing is reached', of: counts(4, 49, 999), refusing: null },
  { why: 'one is reached', of: counts(5, 10, 10), refusing: ['rl_qps', 1] },
  { why: 'one is passed', of: counts(9, 10, 10), refusing: ['rl_qps', 1] },
  { why: 'of several the longest counts', of: counts(5, 50, 10), refusing: ['rl_qpm', 4] },
  { why: 'the month', of: counts(5, 50, 1_000), refusing: ['qmh', at('2026-12-01T00:00:00Z') - TS] },
]) {
  test(`refusal: ${why}`, () => {
    const standing = refusingStanding(POLICIES, of, TS);
    assert.deepEqual(standing && [standing.policy.name, standing.resetsInSeconds], refusing);
  });
}

for (const { of, tightest } of [
  { of: counts(1, 1, 1), tightest: ['rl_qps', 4] },
  { of: counts(0, 1, 1), tightest: ['rl_qpm', 49] },
  { of: counts(1, 49, 1), tightest: ['rl_qpm', 1] },
  { of: counts(1, 1, 1_200), tightest: ['qmh', 0] },
]) {
  test(`the least left in proportion of ${JSON.stringify(of)}`, () => {
    const standing = tightestStanding(POLICIES, of, TS);
    assert.deepEqual(standing && [standing.policy.name, standing.left], tightest);
  });
}
