import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  distinctFamilies,
  onlyFamily,
  parseIsoTime,
  parseSeconds,
  parseUtc,
  toSha256,
  toText,
} from '../../../src/ingest/formats/values.ts';
import { ts } from './read-items.ts';

const UTC: [text: unknown, time: string | null][] = [
  ['2025-07-17 17:19:14', '2025-07-17T17:19:14Z'],
  ['2025-07-17 17:19:14 UTC', '2025-07-17T17:19:14Z'],
  ['2024-02-29 00:00:00', '2024-02-29T00:00:00Z'],
  ['2000-02-29 23:59:59', '2000-02-29T23:59:59Z'],
  ['1970-01-01 00:00:00', '1970-01-01T00:00:00Z'],
  ['2025-02-29 00:00:00', null],
  ['2100-02-29 00:00:00', null],
  ['2025-04-31 00:00:00', null],
  ['2025-00-01 00:00:00', null],
  ['2025-13-01 00:00:00', null],
  ['2025-01-00 00:00:00', null],
  ['2025-01-01 24:00:00', null],
  ['2025-01-01 00:60:00', null],
  ['2025-01-01 00:00:60', null],
  ['1969-12-31 23:59:59', null],
  ['0000-00-00 00:00:00', null],
  ['2025-07-17T17:19:14', null],
  ['2025-07-17 17:19:14 CET', null],
  ['2025-07-17 17:19', null],
  ['2025/07/17 17:19:14', null],
  ['2025-07-17 17-19-14', null],
  ['-025-07-17 17:19:14', null],
  ['2025-07-17 17:19:1x', null],
  ['٢025-07-17 17:19:14', null],
  ['2025-07-1: 17:19:14', null],
  ['2025-07-1/ 17:19:14', null],
  ['', null],
  ['None', null],
  [null, null],
  [1752772754, null],
];

const ISO: [text: unknown, time: string | null][] = [
  ['2025-07-17T17:19:14Z', '2025-07-17T17:19:14Z'],
  ['2025-07-17T17:19:14.999999Z', '2025-07-17T17:19:14Z'],
  ['2025-07-17T17:19:14.000000+02:00', '2025-07-17T15:19:14Z'],
  ['2025-07-17T17:19:14-05:30', '2025-07-17T22:49:14Z'],
  ['1970-01-01T00:00:00+02:00', '1970-01-01T00:00:00Z'],
  ['1970-01-01T02:00:01+02:00', '1970-01-01T00:00:01Z'],
  ['2025-07-17T17:19:14', null],
  ['2025-07-17 17:19:14Z', null],
  ['2025-02-30T17:19:14Z', null],
  ['2025-07-17T17:19:14+99:00', null],
  ['2025-07-17T17:19:14Zx', null],
  [undefined, null],
];

test('times in dumps are parsed or null', () => {
  for (const [text, time] of UTC) assert.equal(parseUtc(text), time === null ? null : ts(time), String(text));
});

test('the number of days of each month', () => {
  const lastDays = { 2023: [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], 2024: [31, 29] };
  for (const [year, days] of Object.entries(lastDays)) {
    for (const [i, day] of days.entries()) {
      const month = `${year}-${String(i + 1).padStart(2, '0')}`;
      assert.equal(parseUtc(`${month}-${day} 00:00:00`), ts(`${month}-${day}T00:00:00Z`), `${month}-${day}`);
      assert.equal(parseUtc(`${month}-${day + 1} 00:00:00`), null, `${month}-${day + 1}`);
    }
  }
});

test('RFC 3339 times are parsed or null', () => {
  for (const [text, time] of ISO) assert.equal(parseIsoTime(text), time === null ? null : ts(time), String(text));
});

test('Unix seconds in MISP are parsed or null', () => {
  assert.equal(parseSeconds('1752772754'), 1752772754);
  assert.equal(parseSeconds(1752772754), 1752772754);
  for (const none of ['', '0', '-1', '1e9', '17527727540', 1.5, null, undefined, [], ['1752772754']])
    assert.equal(parseSeconds(none), null);
});

test('texts that mean unknown, or cannot be stored, are null', () => {
  assert.equal(toText(' nick '), 'nick');
  for (const none of ['', ' ', 'None', 'n/a', 'a\u0000b', 'a\nb', '\ud800', 'x'.repeat(1025), null, 5]) {
    assert.equal(toText(none), null, JSON.stringify(none));
  }
});

test('a hash is valid, unknown or invalid', () => {
  assert.equal(toSha256('AB'.repeat(32)), 'ab'.repeat(32));
  for (const unknown of ['', 'None', 'n/a', null, undefined]) assert.equal(toSha256(unknown), null);
  for (const wrong of ['12ab', 'xy'.repeat(32), `${'ab'.repeat(32)}0`, 'a\u0000'])
    assert.equal(toSha256(wrong), undefined);
});

test('families are distinct without regard to case, and several are ambiguous', () => {
  assert.deepEqual(distinctFamilies(['Mirai', null, 'mirai', 'Qakbot', 'MIRAI']), ['Mirai', 'Qakbot']);
  assert.equal(onlyFamily(['Mirai', null, 'mirai']), 'Mirai');
  assert.equal(onlyFamily(['Mirai', 'Qakbot']), null);
  assert.equal(onlyFamily([null]), null);
});
