import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAGE_ROWS } from '../../src/database/pages.ts';
import { createPagedListingEffect, goesOffline, type ListedUrlRow } from '../../src/urls/listing-rules.ts';

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
