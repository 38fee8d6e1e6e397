import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  daysOfMonth,
  monthText,
  type Policy,
  parseMonth,
  reachedLimit,
  tightestLimit,
  type WindowName,
  windowEnd,
  windowIndex,
  windowSeconds,
} from '../../src/core/quota.ts';

const at = (text: string) => Date.parse(text) / 1000;

for (const [window, ts, end, seconds] of [
  // First, before a month is cached.
  ['month', '1970-01-01T00:00:00Z', '1970-02-01T00:00:00Z', 31 * 86_400],
  ['second', '2026-11-15T12:34:56Z', '2026-11-15T12:34:57Z', 1],
  ['minute', '2026-11-15T12:34:56Z', '2026-11-15T12:35:00Z', 60],
  ['hour', '2026-11-15T12:34:56Z', '2026-11-15T13:00:00Z', 3_600],
  ['day', '2026-11-15T12:34:56Z', '2026-11-16T00:00:00Z', 86_400],
  ['month', '2026-11-15T12:34:56Z', '2026-12-01T00:00:00Z', 30 * 86_400],
  ['month', '2026-12-31T23:59:59Z', '2027-01-01T00:00:00Z', 31 * 86_400],
  ['month', '2027-01-01T00:00:00Z', '2027-02-01T00:00:00Z', 31 * 86_400],
  ['month', '2028-02-29T00:00:00Z', '2028-03-01T00:00:00Z', 29 * 86_400],
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

for (const { why, used, reached } of [
  { why: 'none', used: counts(4, 49, 999), reached: null },
  { why: 'one is reached', used: counts(5, 10, 10), reached: ['rl_qps', 1] },
  { why: 'one is exceeded', used: counts(9, 10, 10), reached: ['rl_qps', 1] },
  { why: 'the one of several that resets last', used: counts(5, 50, 10), reached: ['rl_qpm', 4] },
  { why: 'the month', used: counts(5, 50, 1_000), reached: ['qmh', at('2026-12-01T00:00:00Z') - TS] },
]) {
  test(`the reached limit: ${why}`, () => {
    const state = reachedLimit(POLICIES, used, TS);
    assert.deepEqual(state && [state.policy.name, state.resetsInSeconds], reached);
  });
}

for (const { used, tightest } of [
  { used: counts(1, 1, 1), tightest: ['rl_qps', 4] },
  { used: counts(0, 1, 1), tightest: ['rl_qpm', 49] },
  { used: counts(1, 49, 1), tightest: ['rl_qpm', 1] },
  { used: counts(1, 1, 1_200), tightest: ['qmh', 0] },
]) {
  test(`the limit with the smallest share left after ${JSON.stringify(used)}`, () => {
    const state = tightestLimit(POLICIES, used, TS);
    assert.deepEqual(state && [state.policy.name, state.left], tightest);
  });
}

test('of several reached limits the one that resets last counts in any order, and the first of equal ones', () => {
  const nameOf = (policies: Policy[], ts: number) => reachedLimit(policies, counts(5, 50, 1_000), ts)?.policy.name;
  assert.equal(nameOf(POLICIES.toReversed(), TS), 'qmh');
  assert.equal(nameOf(POLICIES.slice(0, 2), at('2026-11-15T12:34:59Z')), 'rl_qps');
});

const policy = (name: string, window: WindowName, limit: number): Policy => ({ name, window, limit });
for (const { why, policies, of, tightest } of [
  { why: 'the first of equal ones', policies: POLICIES, of: counts(0, 0, 0), tightest: 'rl_qps' },
  {
    why: 'a limit of 0 has nothing left',
    policies: [policy('none', 'second', 0), policy('half', 'minute', 2)],
    of: counts(0, 1, 0),
    tightest: 'none',
  },
  {
    why: 'a limit of 0 and a limit that is used up are equal',
    policies: [policy('used', 'minute', 2), policy('none', 'second', 0)],
    of: counts(0, 2, 0),
    tightest: 'used',
  },
  {
    why: 'a limit of 1 without use',
    policies: [policy('one', 'second', 1), policy('half', 'minute', 2)],
    of: counts(0, 1, 0),
    tightest: 'half',
  },
]) {
  test(`the smallest share left: ${why}`, () => assert.equal(tightestLimit(policies, of, TS)?.policy.name, tightest));
}

test('the days of October 2020', () => {
  assert.deepEqual(daysOfMonth(609), { firstDay: 18_536, endDay: 18_567 });
});

test('months are texts such as 2020-10', () => {
  for (const text of ['1970-01', '1999-12', '2020-10']) assert.equal(monthText(parseMonth(text) ?? -1), text);
  assert.deepEqual(['1970-01', '2020-10'].map(parseMonth), [0, 609]);
  for (const text of ['1969-12', '2026-00', '2026-1', '26-10', '2020-10-01', '']) assert.equal(parseMonth(text), null);
});
