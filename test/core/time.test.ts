import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayOf, timeWindow, toTs } from '../../src/core/time.ts';

const at = (text: string) => Date.parse(text) / 1000;
const NOW = at('2026-11-15T12:34:56Z');

for (const { why, since, until, now = NOW, expect } of [
  { why: 'neither since nor until: the last twelve months', expect: { since: at('2025-11-15T12:34:56Z'), until: NOW } },
  { why: 'only since', since: 5, expect: { since: 5, until: NOW } },
  { why: 'only until', until: NOW - 5, expect: { since: at('2025-11-15T12:34:56Z'), until: NOW - 5 } },
  { why: 'both', since: 5, until: 6, expect: { since: 5, until: 6 } },
  { why: 'a single second', since: 5, until: 5, expect: { since: 5, until: 5 } },
  { why: 'zero', since: 0, until: 0, expect: { since: 0, until: 0 } },
  { why: 'both, in the wrong order', since: 6, until: 5, expect: null },
  { why: 'since in the future: empty, no error', since: NOW + 9, expect: { since: NOW + 9, until: NOW } },
  {
    why: 'until before the default since: empty, no error',
    until: 5,
    expect: { since: at('2025-11-15T12:34:56Z'), until: 5 },
  },
  {
    why: 'the greatest numbers',
    since: Number.MAX_SAFE_INTEGER,
    until: Number.MAX_SAFE_INTEGER,
    expect: { since: Number.MAX_SAFE_INTEGER, until: Number.MAX_SAFE_INTEGER },
  },
  {
    why: 'twelve calendar months: 366 days across 29 February',
    now: at('2028-03-01T00:00:00Z'),
    expect: { since: at('2027-03-01T00:00:00Z'), until: at('2028-03-01T00:00:00Z') },
  },
  {
    why: 'twelve months before 29 February is 28 February',
    now: at('2028-02-29T10:00:00Z'),
    expect: { since: at('2027-02-28T10:00:00Z'), until: at('2028-02-29T10:00:00Z') },
  },
] as { why: string; since?: number; until?: number; now?: number; expect: object | null }[]) {
  test(`window: ${why}`, () => {
    assert.deepEqual(timeWindow(since, until, now), expect);
  });
}

test('milliseconds are rounded down to seconds', () => assert.deepEqual([999, 1_000, 1_999].map(toTs), [0, 1, 1]));

test('days begin at midnight in UTC', () => {
  assert.deepEqual([0, 86_399, 86_400, NOW].map(dayOf), [0, 0, 1, 20_772]);
});
