import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ObservationInput } from '../../src/core/observation.ts';
import { createHostResolver, type HostResolver, resolvingFormat } from '../../src/ingest/resolve.ts';
import { type Format, INPUT_LIMITS, type Item, type Source } from '../../src/ingest/sources/format.ts';

const NOW = 1_767_225_600;
const PUBLIC = '93.184.216.34';

function resolverOf(answers: Record<string, string[]>, bounds: { perSecond?: number; maxNames?: number } = {}) {
  const lookups: { host: string; atMs: number }[] = [];
  let nowMs = 0;
  const resolver = createHostResolver({
    async resolve(host) {
      lookups.push({ host, atMs: nowMs });
      return answers[host] ?? Promise.reject(new Error('ENOTFOUND'));
    },
    nowMs: () => nowMs,
    async sleep(ms) {
      nowMs += ms;
    },
    ...bounds,
  });
  return { resolver, lookups };
}

describe('the host resolver', () => {
  test('looks up each name once and returns only public addresses', async () => {
    const { resolver, lookups } = resolverOf({
      'a.example': [PUBLIC, '10.0.0.1', '2606:4700::1111', '0.0.0.0', '::1', 'nonsense'],
    });
    for (const _ of [1, 2]) assert.deepEqual(await resolver.addressesOf('a.example'), [PUBLIC, '2606:4700::1111']);
    assert.deepEqual(await resolver.addressesOf('nowhere.example'), []);
    assert.equal(lookups.length, 2);
  });

  test('limits the rate of lookups', async () => {
    const { resolver, lookups } = resolverOf({}, { perSecond: 10 });
    for (const host of ['a', 'b', 'c']) await resolver.addressesOf(host);
    assert.deepEqual(
      lookups.map(({ atMs }) => atMs),
      [0, 100, 200],
    );
  });

  test('keeps the rate when all names are requested together', async () => {
    const waits: number[] = [];
    const resolver = createHostResolver({
      resolve: async () => [],
      nowMs: () => 5_000,
      sleep: async (ms) => waits.push(ms),
      perSecond: 10,
    });
    await Promise.all(['a', 'b', 'c'].map((host) => resolver.addressesOf(host)));
    assert.deepEqual(waits, [0, 100, 200]);
  });

  test('limits the number of names', async () => {
    const { resolver, lookups } = resolverOf({}, { maxNames: 2 });
    for (const host of ['a', 'b', 'c', 'a']) assert.deepEqual(await resolver.addressesOf(host), []);
    assert.deepEqual(
      lookups.map(({ host }) => host),
      ['a', 'b'],
    );
  });
});

describe('a format that resolves hosts', () => {
  const resolver: HostResolver = { addressesOf: async (host) => (host === 'a.example' ? [PUBLIC] : []) };
  const seen = { ts: NOW, url: 'http://a.example/x' };
  for (const [why, input, ip] of [
    ['a name that is online now', seen, [PUBLIC]],
    ['a name in another form', { ...seen, url: 'HTTP://A.EXAMPLE:80/' }, [PUBLIC]],
    ['exactly a day ago', { ...seen, ts: NOW - 86_400 }, [PUBLIC]],
    ['more than a day ago', { ...seen, ts: NOW - 86_401 }, undefined],
    ['offline', { ...seen, status: 'offline' }, undefined],
    ['no status', { ...seen, status: null }, undefined],
    ['the data has an address', { ...seen, ip: '192.0.2.1' }, '192.0.2.1'],
    ['the data has a network', { ...seen, asn: 64500 }, undefined],
    ['the host is an address', { ...seen, url: 'http://192.0.2.1/' }, undefined],
    ['a name without an address', { ...seen, url: 'http://b.example/' }, undefined],
    ['an invalid URL', { ...seen, url: 'nothing' }, undefined],
  ] as const) {
    test(why, async () => {
      const items = await read([{ kind: 'observations', line: 1, text: '', inputs: [input as ObservationInput] }]);
      const [item] = items;
      assert.ok(item?.kind === 'observations');
      assert.deepEqual(item.inputs, [ip === undefined ? input : { ...input, ip }]);
    });
  }

  test('other items are unchanged', async () => {
    const rows: Item[] = [
      { kind: 'reject', line: 1, text: 'x', reason: 'y' },
      { kind: 'time', ts: 5 },
    ];
    assert.deepEqual(await read(rows), rows);
  });

  async function read(items: Item[]): Promise<Item[]> {
    const format: Format = {
      name: 'f',
      summary: '',
      async *read() {
        yield items;
      },
    };
    const found: Item[] = [];
    const times = { nowTs: NOW, asOfTs: NOW };
    for await (const some of resolvingFormat(format, resolver).read({} as Source, INPUT_LIMITS, times))
      found.push(...some);
    return found;
  }
});
