import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAGE_ROWS, pageOf, readPages, rowPages } from '../../src/database/pages.ts';

const { signal } = new AbortController();

/** The key of a page is its index. */
function pagesOf(lists: string[][], keys: number[] = []) {
  return (key: number) => {
    keys.push(key);
    return { items: lists[key] ?? [], next: key + 1 < lists.length ? key + 1 : null };
  };
}

async function collect<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(page);
  return all;
}

for (const { name, lists, limit, pages, keys } of [
  { name: 'every page', lists: [['a', 'b'], ['c']], limit: 9, pages: [['a', 'b'], ['c']], keys: [0, 1] },
  {
    name: 'the last page is cut at the limit',
    lists: [
      ['a', 'b'],
      ['c', 'd'],
    ],
    limit: 3,
    pages: [['a', 'b'], ['c']],
    keys: [0, 1],
  },
  {
    name: 'no page is read after the limit is reached',
    lists: [['a', 'b'], ['c']],
    limit: 2,
    pages: [['a', 'b']],
    keys: [0],
  },
  { name: 'a limit of 0 reads nothing', lists: [['a']], limit: 0, pages: [], keys: [] },
  { name: 'an empty page is skipped', lists: [[], ['a']], limit: 1, pages: [['a']], keys: [0, 1] },
]) {
  test(`readPages: ${name}`, async () => {
    const seen: number[] = [];
    assert.deepEqual(await collect(readPages(0, { limit, signal }, pagesOf(lists, seen))), pages);
    assert.deepEqual(seen, keys);
  });
}

test('readPages reads nothing without a first key, and stops between two pages when the signal is aborted', async () => {
  assert.deepEqual(await collect(readPages(null, { limit: 9, signal }, pagesOf([['a']]))), []);
  const stop = new AbortController();
  const keys: number[] = [];
  const pages = readPages(0, { limit: 9, signal: stop.signal }, pagesOf([['a'], ['b']], keys));
  assert.deepEqual((await pages.next()).value, ['a']);
  stop.abort(new Error('gone'));
  await assert.rejects(pages.next(), /gone/);
  assert.deepEqual(keys, [0]);
});

test('the event loop runs between two pages', async () => {
  const order: string[] = [];
  setImmediate(() => order.push('another'));
  for await (const [page] of readPages(0, { limit: 9, signal }, pagesOf([['a'], ['b']]))) order.push(page ?? '');
  assert.deepEqual(order, ['a', 'another', 'b']);
});

test('the event loop runs between two pages of rows', async () => {
  const order: string[] = [];
  setImmediate(() => order.push('another'));
  const read = (after: string) =>
    Array.from({ length: after === '' ? PAGE_ROWS : 1 }, () => (after === '' ? 'a' : 'b'));
  for await (const [row] of rowPages(read, '', (last) => last)) order.push(row ?? '');
  assert.deepEqual(order, ['a', 'another', 'b']);
});

for (const [rows, next] of [
  [0, null],
  [1, null],
  [PAGE_ROWS - 1, null],
  [PAGE_ROWS, PAGE_ROWS],
]) {
  test(`pageOf: the key after ${rows} rows is ${next}`, () => {
    const numbers = Array.from({ length: rows ?? 0 }, (_, i) => i);
    const page = pageOf(numbers, String, (row) => row + 1);
    assert.deepEqual(page, { items: numbers.map(String), next });
  });
}

test('a page has 500 rows', () => assert.equal(PAGE_ROWS, 500));

for (const { name, count, maxRows, lengths, keys } of [
  { name: 'no rows', count: 0, lengths: [], keys: [0] },
  { name: 'one row', count: 1, lengths: [1], keys: [0] },
  { name: 'less than a page', count: 3, lengths: [3], keys: [0] },
  {
    name: 'full pages, after which an empty one is read',
    count: 2 * PAGE_ROWS,
    lengths: [PAGE_ROWS, PAGE_ROWS],
    keys: [0, PAGE_ROWS, 2 * PAGE_ROWS],
  },
  {
    name: 'no page is read after the maximum',
    count: 3 * PAGE_ROWS,
    maxRows: PAGE_ROWS + 1,
    lengths: [PAGE_ROWS, PAGE_ROWS],
    keys: [0, PAGE_ROWS],
  },
  { name: 'the maximum is one page', count: 3 * PAGE_ROWS, maxRows: PAGE_ROWS, lengths: [PAGE_ROWS], keys: [0] },
]) {
  test(`rows by key: ${name}`, async () => {
    const rows = Array.from({ length: count }, (_, i) => i + 1);
    const seen: number[] = [];
    const read = (after: number) => {
      seen.push(after);
      return rows.slice(after, after + PAGE_ROWS);
    };
    const pages = await collect(rowPages(read, 0, (row) => row, maxRows));
    assert.deepEqual(pages.flat(), rows.slice(0, pages.flat().length));
    assert.deepEqual([pages.map(({ length }) => length), seen], [lengths, keys]);
  });
}
