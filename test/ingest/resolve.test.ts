import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ObservationInput } from '../../src/core/observation.ts';
import { createHostResolver, type HostResolver, resolvingFormat } from '../../src/ingest/resolve.ts';
import { type Format, INPUT_LIMITS, type Item, type Source } from '../../src/ingest/sources/format.ts';

const NOW = 1_767_225_600;
const PUBLIC = '93.184.216.34';

function resolverOf(answers: Record<string, string[]>, bounds: { perSecond?: number; maxNames?: number } = {}) {
  const asked: { host: string; atMs: number }[] = [];
  let nowMs = 0;
  const resolver = createHostResolver({
    async resolve(host) {
      asked.push({ host, atMs: nowMs });
      return answers[host] ?? Promise.reject(new Error('ENOTFOUND'));
    },
    nowMs: () => nowMs,
    async sleep(ms) {
      nowMs += ms;
    },
    ...bounds,
  });
  return { resolver, asked };
}

describe('finding the addresses of hosts', () => {
  test('asks for each name once, and gives public addresses only', async () => {
    const { resolver, asked } = resolverOf({
      'a.example': [PUBLIC, '10.0.0.1', '2606:4700::1111', '0.0.0.0', '::1', 'nonsense'],
    });
    for (const _ of [1, 2]) assert.deepEqual(await resolver.addressesOf('a.example'), [PUBLIC, '2606:4700::1111']);
    assert.deepEqual(await resolver.addressesOf('nowhere.example'), []);
    assert.equal(asked.length, 2);
  });

  test('at a steady rate', async () => {
    const { resolver, asked } = resolverOf({}, { perSecond: 10 });
    for (const host of ['a', 'b', 'c']) await resolver.addressesOf(host);
    assert.deepEqual(
      asked.map(({ atMs }) => atMs),
      [0, 100, 200],
    );
  });

  test('at the same rate when all are asked for at once', async () => {
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

  test('for so many names and no more', async () => {
    const { resolver, asked } = resolverOf({}, { maxNames: 2 });
    for (const host of ['a', 'b', 'c', 'a']) assert.deepEqual(await resolver.addressesOf(host), []);
    assert.deepEqual(
      asked.map(({ host }) => host),
      ['a', 'b'],
    );
  });
});

describe('a format whose hosts are looked up', () => {
  const ask: HostResolver = { addressesOf: async (host) => (host === 'a.example' ? [PUBLIC] : []) };
  const seen = { ts: NOW, url: 'http://a.example/x' };
  for (const [why, input, ip] of [
    ['a name that is online now', seen, [PUBLIC]],
    ['a name in another form', { ...seen, url: 'HTTP://A.EXAMPLE:80/' }, [PUBLIC]],
    ['yesterday at this time', { ...seen, ts: NOW - 86_400 }, [PUBLIC]],
    ['longer ago: where it is now says nothing', { ...seen, ts: NOW - 86_401 }, undefined],
    ['offline', { ...seen, status: 'offline' }, undefined],
    ['no status', { ...seen, status: null }, undefined],
    ['the data has an address', { ...seen, ip: '192.0.2.1' }, '192.0.2.1'],
    ['the data has a network', { ...seen, asn: 64500 }, undefined],
    ['an address as host', { ...seen, url: 'http://192.0.2.1/' }, undefined],
    ['a name without an address', { ...seen, url: 'http://b.example/' }, undefined],
    ['no URL', { ...seen, url: 'nothing' }, undefined],
  ] as const) {
    test(why, async () => {
      const items = await read([{ kind: 'observations', line: 1, text: '', inputs: [input as ObservationInput] }]);
      const [item] = items;
      assert.ok(item?.kind === 'observations');
      assert.deepEqual(item.inputs, [ip === undefined ? input : { ...input, ip }]);
    });
  }

  test('other rows stay as they are', async () => {
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
    for await (const some of resolvingFormat(format, ask).read({} as Source, INPUT_LIMITS, times)) found.push(...some);
    return found;
  }
});
