import assert from 'node:assert/strict';
import { test } from 'node:test';
import { currentTs, parseSpan, readTime, spanText } from '../../src/cli/time.ts';

for (const [text, seconds] of [
  ['90s', 90],
  ['5m', 300],
  ['1h', 3_600],
  ['7d', 604_800],
  ['0m', null],
  ['05m', null],
  ['1.5h', null],
  ['5', null],
  ['5M', null],
  ['-5m', null],
  ['1h30m', null],
  ['9999999d', null],
] as const) {
  test(`the time ${text} is ${seconds ?? 'refused'}`, () => assert.equal(parseSpan(text), seconds));
}

for (const [seconds, text] of [
  [0, '0 s'],
  [59, '59 s'],
  [60, '1 m'],
  [61, '61 s'],
  [119, '119 s'],
  [5_400, '90 m'],
  [3_600, '1 h'],
  [93_700, '26 h'],
  [86_400, '1 d'],
  [172_800, '2 d'],
] as const) {
  test(`${seconds} seconds are ${text}`, () => assert.equal(spanText(seconds), text));
}

test('a time may be days or hours ago, but not minutes or months', () => {
  for (const [text, seconds] of [
    ['30d', 30 * 86_400],
    ['12h', 12 * 3_600],
  ] as const) {
    const difference = currentTs() - seconds - readTime('--since', text);
    assert.ok(difference >= 0 && difference <= 1, text);
  }
  for (const text of ['6m', '0d', '999999d', '-1d'])
    assert.throws(() => readTime('--since', text), /^UsageError: --since must/);
});

test('a time may be ISO 8601, but not on a day that does not exist', () => {
  for (const [text, ts] of [
    ['2024-02-29', 1_709_164_800],
    ['2026-01-31T12:00:00Z', 1_769_860_800],
    ['2026-01-31 12:00', 1_769_860_800],
    ['2026-01-31T00:30:00+01:00', 1_769_815_800],
  ] as const) {
    assert.equal(readTime('--since', text), ts, text);
  }
  for (const text of [
    '2026-02-30',
    '2026-02-29T12:00:00Z',
    '2026-04-31 12:00',
    '2026-02-30T00:00:00+01:00',
    '2026-13-01',
  ])
    assert.throws(() => readTime('--since', text), /^UsageError: --since must/, text);
});
