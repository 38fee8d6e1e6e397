import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNetwork } from '../../src/core/ip/network.ts';
import { createPagedSearch, type FactKey, type SearchReads } from '../../src/urls/paged-search.ts';
import type { SearchKey } from '../../src/urls/search-key.ts';

async function collect(pages: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const page of pages) all.push(page);
  return all;
}

const BUCKET_SECONDS = 30 * 86_400;
const { signal } = new AbortController();

/** Reads that record their arguments. Host and family have two ids each; each id has two pages of two lines. */
function createReads(buckets: number[] = []) {
  const calls: unknown[] = [];
  const page =
    (name: string): SearchReads['byHost'] =>
    (id, since, before, limit) => {
      calls.push([name, id, since, before, limit]);
      const isFirst = before[1] === 0;
      const count = Math.min(2, limit);
      return { lines: `${name}${id}${isFirst ? 'a' : 'b'}`, count, next: isFirst ? ([5, 6, 7] as FactKey) : null };
    };
  const reads: SearchReads = {
    hostIds: () => [[1], [2]],
    familyIds: async () => [[3], [4]],
    fileIds: (sha256) => [[Buffer.from(sha256).readUInt8(0)]],
    byHost: page('host'),
    byFamily: page('family'),
    byFile: page('file'),
    byAsn: page('asn'),
    byIp(bucket, _to, after, _window, limit) {
      calls.push(['ip', bucket, after[1], after[2], limit]);
      return { lines: `ip${bucket}`, count: 1, next: null };
    },
    newestBucket(from) {
      calls.push(['newest', from]);
      return [[buckets.find((bucket) => bucket <= from) ?? null]];
    },
  };
  return { calls, search: createPagedSearch(reads) };
}

const WINDOW = { since: 10, until: 20 };
const NONE = new Uint8Array(0);

const CASES: { key: SearchKey; limit: number; lines: string[]; calls: unknown[] }[] = [
  {
    key: { by: 'host', host: 'a.example' },
    limit: 99,
    lines: ['host1a', 'host1b', 'host2a', 'host2b'],
    calls: [
      ['host', 1, 10, [21, 0, 0], 99],
      ['host', 1, 10, [5, 6, 7], 97],
      ['host', 2, 10, [21, 0, 0], 95],
      ['host', 2, 10, [5, 6, 7], 93],
    ],
  },
  {
    key: { by: 'family', folded: 'x' },
    limit: 5,
    lines: ['family3a', 'family3b', 'family4a'],
    calls: [
      ['family', 3, 10, [21, 0, 0], 5],
      ['family', 3, 10, [5, 6, 7], 3],
      ['family', 4, 10, [21, 0, 0], 1],
    ],
  },
  {
    key: { by: 'sha256', sha256: 'ab'.repeat(32) },
    limit: 2,
    lines: ['file171a'],
    calls: [['file', 171, 10, [21, 0, 0], 2]],
  },
  { key: { by: 'asn', asn: 64500 }, limit: 1, lines: ['asn64500a'], calls: [['asn', 64500, 10, [21, 0, NONE], 1]] },
];

for (const { key, limit, lines, calls } of CASES) {
  test(`a search by ${key.by} reads id by id and page by page, up to ${limit} lines`, async () => {
    const reads = createReads();
    assert.deepEqual(await collect(reads.search(key, WINDOW, { limit, signal })), lines);
    assert.deepEqual(reads.calls, calls);
  });
}

function networkKey(text: string): SearchKey {
  const parsed = parseNetwork(text);
  assert.ok(parsed.ok);
  return { by: 'ip', network: parsed.network };
}

const inBuckets = (since: number, until: number) => ({ since: since * BUCKET_SECONDS, until: until * BUCKET_SECONDS });

for (const { name, buckets, network = '192.0.2.0/24', window, limit = 99, lines, calls } of [
  {
    name: 'from the newest bucket of the window to the oldest one, both included',
    buckets: [9, 7, 5, 3, 1],
    window: inBuckets(3, 7),
    lines: ['ip7', 'ip5', 'ip3'],
    calls: [
      ['newest', 7],
      ['ip', 7, -1, 0, 99],
      ['newest', 6],
      ['ip', 5, -1, 0, 98],
      ['newest', 4],
      ['ip', 3, -1, 0, 97],
      ['newest', 2],
    ],
  },
  { name: 'no bucket has addresses', buckets: [], window: inBuckets(3, 7), lines: [], calls: [['newest', 7]] },
  {
    name: 'no bucket is read after the limit is reached',
    buckets: [7, 5, 3],
    window: inBuckets(3, 7),
    limit: 2,
    lines: ['ip7', 'ip5'],
    calls: [
      ['newest', 7],
      ['ip', 7, -1, 0, 2],
      ['newest', 6],
      ['ip', 5, -1, 0, 1],
      ['newest', 4],
    ],
  },
  {
    name: 'every range of a network',
    buckets: [0],
    network: '::/0',
    window: inBuckets(0, 0),
    lines: ['ip0', 'ip0'],
    calls: [
      ['newest', 0],
      ['ip', 0, -1, 0, 99],
      ['ip', 0, -1, 0, 98],
      ['newest', -1],
    ],
  },
]) {
  test(`a search by address: ${name}`, async () => {
    const reads = createReads(buckets);
    assert.deepEqual(await collect(reads.search(networkKey(network), window, { limit, signal })), lines);
    assert.deepEqual(reads.calls, calls);
  });
}

test('a page without lines is skipped, and the next one is read', async () => {
  const none = createReads();
  assert.deepEqual(await collect(none.search({ by: 'host', host: 'a' }, WINDOW, { limit: 0, signal })), []);
  assert.deepEqual(none.calls, []);
  let pages = 0;
  const sparse = createPagedSearch({
    hostIds: () => [[1]],
    byHost: () => ({ lines: 'x', count: pages++, next: pages < 2 ? ([1, 1, 1] as FactKey) : null }),
  } as unknown as SearchReads);
  assert.deepEqual(await collect(sparse({ by: 'host', host: 'a' }, WINDOW, { limit: 9, signal })), ['x']);
  assert.equal(pages, 2);
});

test('a search stops between two pages or two buckets when the signal is aborted', async () => {
  for (const [key, window] of [
    [{ by: 'host', host: 'a' }, WINDOW],
    [networkKey('192.0.2.1'), inBuckets(3, 7)],
  ] as const) {
    const stop = new AbortController();
    const { calls, search } = createReads([7, 5]);
    const lines = search(key, window, { limit: 99, signal: stop.signal })[Symbol.asyncIterator]();
    await lines.next();
    const before = calls.length;
    stop.abort(new Error('gone'));
    await assert.rejects(async () => lines.next(), /gone/);
    assert.equal(calls.length, before);
  }
});

test('the event loop runs between two pages', async () => {
  const order: string[] = [];
  setImmediate(() => order.push('another'));
  const { search } = createReads();
  for await (const lines of search({ by: 'asn', asn: 1 }, WINDOW, { limit: 9, signal })) order.push(lines);
  assert.deepEqual(order, ['asn1a', 'another', 'asn1b']);
});
