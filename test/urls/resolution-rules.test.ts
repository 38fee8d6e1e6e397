import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAGE_ROWS } from '../../src/database/pages.ts';
import {
  createPagedNetworkless,
  hostAddress,
  mergeResolution,
  type NetworklessKey,
  type NetworklessRow,
} from '../../src/urls/resolution-rules.ts';
import { bucketOf } from '../../src/urls/store.ts';
import { RESOLUTION_VECTORS } from '../vectors/resolutions.ts';

for (const { name, old, given, merged, isChanged } of RESOLUTION_VECTORS) {
  test(`mergeResolution: ${name}`, () => {
    assert.deepEqual(mergeResolution(old, given), { ...merged, isChanged });
  });
}

test('hostAddress is null for a host name', () => {
  assert.deepEqual([...(hostAddress('http://192.0.2.1:8080/x') ?? [])].slice(-4), [192, 0, 2, 1]);
  assert.equal(hostAddress('http://a.example/'), null);
});

test('a bucket has 30 days', () => {
  assert.deepEqual([0, 30 * 86_400 - 1, 30 * 86_400].map(bucketOf), [0, 0, 1]);
});

const ip = (last: number) => Uint8Array.from([...new Array(15).fill(0), last]);

test('addresses without a network are read page by page, equal neighbours once', async () => {
  const rows = Array.from({ length: PAGE_ROWS }, (_, i): NetworklessRow => [1, ip(9), i, i, 0]);
  rows.splice(
    0,
    5,
    [1, ip(0), 1, 7, 1],
    [1, ip(1), 2, 7, 1],
    [1, ip(1), 3, 8, 1],
    [1, ip(2), 4, 7, 0],
    [1, ip(3), 5, 7, 1],
  );
  const keys: NetworklessKey[] = [];
  const addresses = createPagedNetworkless((after) => {
    keys.push(after);
    return keys.length === 1 ? rows : [[2, ip(3), 6, 7, 1]];
  });
  const pages: (number | undefined)[][] = [];
  for await (const page of addresses(new AbortController().signal)) pages.push(page.map((one) => one.at(-1)));
  assert.deepEqual(pages, [[0, 1, 3], [3]]);
  assert.deepEqual(keys, [
    [-1, new Uint8Array(0), -1, 0],
    [1, ip(9), PAGE_ROWS - 1, PAGE_ROWS - 1],
  ]);
});
