import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAGE_ROWS } from '../../src/database/pages.ts';
import {
  createPagedListingEffect,
  goesOffline,
  impliedChange,
  isNewlyListed,
  type ListedRow,
  type ListedUrlRow,
} from '../../src/urls/listing-rules.ts';

const [ONLINE, OFFLINE] = [1, 2];
const NOBODY = 0;
const OTHERS = 1;

/** For a listing at 50. */
const VECTORS: [name: string, row: ListedUrlRow, goes: boolean][] = [
  ['missing from the listing', [1, ONLINE, 40, NOBODY, null, 30], true],
  ['in the listing', [1, ONLINE, 50, NOBODY, null, 30], false],
  ['in a newer listing', [1, ONLINE, 60, NOBODY, null, 30], false],
  ['offline already', [1, OFFLINE, 40, NOBODY, null, 30], false],
  ['without an event', [1, null, 40, NOBODY, null, null], false],
  ['listed by another feed', [1, ONLINE, 40, OTHERS, null, 30], false],
  ['listed by a second feed, dropped by a third', [1, ONLINE, 40, OTHERS, 45, 30], false],
  ['seen at the time of the listing', [1, ONLINE, 40, NOBODY, null, 50], true],
  ['seen after the listing', [1, ONLINE, 40, NOBODY, null, 51], false],
  ['seen after the listing, another feed dropped it before that', [1, ONLINE, 40, NOBODY, 45, 51], false],
  ['seen after the listing, another feed dropped it after that', [1, ONLINE, 40, NOBODY, 55, 51], true],
];

for (const [name, row, goes] of VECTORS) {
  test(`goesOffline: ${name}`, () => {
    assert.equal(goesOffline(row, 50), goes);
  });
}

test('the effect of a listing counts every page, and nothing for an unknown feed', async () => {
  const rows = Array.from({ length: 2 * PAGE_ROWS }, (_, i): ListedUrlRow => {
    return [i + 1, i % 2 === 0 ? ONLINE : OFFLINE, i < 10 ? 50 : 40, NOBODY, null, 30];
  });
  const after: number[] = [];
  const effect = createPagedListingEffect({
    feedId: (feed) => (feed === 'known' ? 7 : undefined),
    listedUrls(feedId, afterId) {
      assert.equal(feedId, 7);
      after.push(afterId);
      return rows.filter(([id]) => id > afterId).slice(0, PAGE_ROWS);
    },
  });
  assert.deepEqual(await effect({ feed: 'known', ts: 50 }), { online: PAGE_ROWS, goingOffline: PAGE_ROWS - 5 });
  assert.deepEqual(after, [0, PAGE_ROWS, 2 * PAGE_ROWS]);
  assert.deepEqual(await effect({ feed: 'unknown', ts: 50 }), { online: 0, goingOffline: 0 });
});

const at = (ts: number, reporter: string) => ({ ts, reporter });

const CHANGES: { name: string; rows: ListedRow[]; row: ListedRow; change: ReturnType<typeof impliedChange> }[] = [
  { name: 'the first feed lists it', rows: [], row: [1, 'a', 10, null], change: null },
  {
    name: 'the only feed drops it',
    rows: [[1, 'a', 10, null]],
    row: [1, 'a', 10, 20],
    change: { before: null, after: at(20, 'a') },
  },
  {
    name: 'the feed lists it again',
    rows: [[1, 'a', 10, 20]],
    row: [1, 'a', 30, null],
    change: { before: at(20, 'a'), after: null },
  },
  {
    name: 'another feed still lists it',
    rows: [
      [1, 'a', 10, null],
      [2, 'b', 10, null],
    ],
    row: [1, 'a', 10, 20],
    change: null,
  },
  {
    name: 'the last feed drops it',
    rows: [
      [1, 'a', 10, null],
      [2, 'b', 10, 15],
    ],
    row: [1, 'a', 10, 20],
    change: { before: null, after: at(20, 'a') },
  },
  {
    name: 'the feed that drops it last counts, in any order of arrival',
    rows: [
      [1, 'a', 10, null],
      [2, 'b', 10, 25],
    ],
    row: [1, 'a', 10, 20],
    change: { before: null, after: at(25, 'b') },
  },
  {
    name: 'two feeds drop it at one time: the first name counts',
    rows: [[1, 'b', 10, 20]],
    row: [2, 'a', 10, 20],
    change: { before: at(20, 'b'), after: at(20, 'a') },
  },
  {
    name: 'two feeds drop it at one time: the second name changes nothing',
    rows: [[1, 'a', 10, 20]],
    row: [2, 'b', 10, 20],
    change: null,
  },
  {
    name: 'a feed with a smaller name dropped it earlier',
    rows: [[1, 'b', 10, 20]],
    row: [2, 'a', 10, 15],
    change: null,
  },
  {
    name: 'a later drop moves the implied offline',
    rows: [[1, 'a', 10, 20]],
    row: [1, 'a', 10, 30],
    change: { before: at(20, 'a'), after: at(30, 'a') },
  },
  {
    name: 'a newer listing with the same drop',
    rows: [[1, 'a', 10, 20]],
    row: [1, 'a', 15, 20],
    change: null,
  },
];

for (const { name, rows, row, change } of CHANGES) {
  test(`impliedChange: ${name}`, () => assert.deepEqual(impliedChange(rows, row), change));
}

test('a listing is new if the feed has no listing with the URL, or only an older one', () => {
  const rows: ListedRow[] = [
    [1, 'a', 10, null],
    [2, 'b', 30, 40],
  ];
  assert.deepEqual(
    [9, 10, 11].map((ts) => isNewlyListed(rows, 1, ts)),
    [false, false, true],
  );
  assert.equal(isNewlyListed(rows, 2, 20), false);
  assert.equal(isNewlyListed(rows, 3, 1), true);
});
