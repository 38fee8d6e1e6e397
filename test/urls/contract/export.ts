import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Intelligence } from '../../../src/app/stores.ts';
import type { Observation, ObservationInput } from '../../../src/core/observation.ts';
import { parseObservation, printObservation } from '../../../src/ingest/observation-json.ts';
import type { ExportFilter } from '../../../src/urls/store.ts';
import { historyOf } from '../results.ts';
import { dump } from './dump.ts';
import type { OpenStore } from './index.ts';
import { collect, DAY, find, hashOf, NEW_YEAR, seen } from './observations.ts';

const T = NEW_YEAR;

export function exportSuite(open: OpenStore): void {
  suite('export', () => {
    test('an empty store exports nothing', async (t) => {
      assert.deepEqual(await exported(await open(t)), []);
      assert.deepEqual(await collect((await open(t)).exportUrls({})), []);
    });

    test('an export that is imported into an empty store has the same export and the same lookups', async (t) => {
      const [store, copy] = [await open(t), await open(t)];
      const observations = await fill(store);
      const lines = await exported(store);
      await copy.apply(lines.map(fromLine));
      assert.deepEqual(await exported(copy), lines);
      assert.deepEqual(await dump(copy, observations), await dump(store, observations));
      for (const [name, value] of [
        ['asn', 64500],
        ['asn', 64501],
        ['malware_family', 'mirai'],
        ['malware_family', 'late'],
        ['sha256', hashOf('b')],
        ['host', 'listed.example'],
        ['host', 'removed.example'],
      ] as const) {
        const found = await find(store, name, value);
        assert.ok(found.length > 0, `${name} ${value}`);
        assert.deepEqual(await find(copy, name, value), found);
      }
    });

    test('the order depends neither on ids nor on batches', async (t) => {
      const observations = Array.from({ length: 1_400 }, (_, i) =>
        seen({
          ts: T + (i % 3),
          url: `http://${i % 700}.example/`,
          ip: `192.0.2.${i % 200}`,
          payload: { ts: T, fileSize: i % 9 },
        }),
      );
      const [forth, back] = [await open(t), await open(t)];
      await forth.apply(observations);
      for (let i = observations.length; i > 0; i -= 200) await back.apply(observations.slice(i - 200, i));
      const lines = await exported(forth);
      assert.ok(lines.length > 2_000);
      assert.deepEqual(await exported(back), lines);
    });

    test('one URL with more than a page of events, resolutions and payloads', async (t) => {
      const [store, copy] = [await open(t), await open(t)];
      const url = 'http://a.example/';
      const observations = Array.from({ length: 1_203 }, (_, i) =>
        seen({
          ts: T + i,
          url,
          status: i % 2 === 0 ? 'online' : 'offline',
          ip: `10.0.${i >> 8}.${i & 255}`,
          payload: { ts: T, fileSize: i },
        }),
      );
      await store.apply(observations);
      const lines = await exported(store);
      assert.equal(lines.length, 3 * 1_203);
      await copy.apply(lines.map(fromLine));
      assert.deepEqual(await exported(copy), lines);
    });

    test('a run is exported as its first and its newest observation', async (t) => {
      const store = await open(t);
      await store.apply([10, 20, 30].map((ts) => seen({ ts, url: 'http://a.example/', reporter: `r${ts}` })));
      await store.apply([seen({ ts: 40, url: 'http://a.example/', status: 'removed', removal: 'abuse' })]);
      assert.deepEqual(await exported(store), [
        '{"ts":10,"url":"http://a.example/","status":"online","reporter":"r10"}',
        '{"ts":30,"url":"http://a.example/","status":"online","reporter":"r10"}',
        '{"ts":40,"url":"http://a.example/","status":"removed","removal":"abuse"}',
      ]);
    });

    test('a filter selects URLs, with all of their data', async (t) => {
      const store = await open(t);
      await store.apply([
        seen({ ts: 10, url: 'http://online.example/' }),
        seen({ ts: 10, url: 'http://offline.example/' }),
        seen({ ts: 20, url: 'http://offline.example/', status: 'offline' }),
        seen({ ts: 30, url: 'http://removed.example/', status: 'removed' }),
        seen({ ts: 40, url: 'http://facts.example/', status: null, payload: { fileSize: 1 } }),
      ]);
      const hosts = async (filter: ExportFilter) => {
        const urls = await collect(store.exportUrls(filter));
        const observations = await collect(store.exportObservations(filter));
        assert.deepEqual(
          [...new Set(observations.map(({ url }) => url))],
          urls.map(({ url }) => url),
        );
        return urls.map(({ host }) => host.replace('.example', '')).sort();
      };
      assert.deepEqual(await hosts({}), ['facts', 'offline', 'online', 'removed']);
      assert.deepEqual(await hosts({ status: 'online' }), ['online']);
      assert.deepEqual(await hosts({ status: 'offline' }), ['offline', 'removed']);
      assert.deepEqual(await hosts({ since: 20 }), ['facts', 'offline', 'removed']);
      assert.deepEqual(await hosts({ since: 21, status: 'offline' }), ['removed']);
      assert.deepEqual(await hosts({ since: 41 }), []);
    });

    test('each URL has its newest event and payload', async (t) => {
      const store = await open(t);
      const url = 'http://a.example/x';
      await store.apply([seen({ ts: 10, url, reporter: 'ada', payload: { sha256: hashOf('a'), family: 'Mirai' } })]);
      const [one] = await collect(store.exportUrls({}));
      const unknown = { mimeType: null, fileType: null, fileExt: null, fileSize: null, fileName: null };
      assert.deepEqual(one, {
        id: await store.urlId(url),
        url,
        host: 'a.example',
        event: { ts: 10, kind: 'added', removal: '', reporter: 'ada' },
        payload: { ts: 10, sha256: hashOf('a'), ...unknown, family: 'Mirai' },
        tags: [],
        details: null,
      });
    });

    test('details are the newest address and the newest sighting in the last status', async (t) => {
      const store = await open(t);
      const at = (ts: number, host: string, more: Partial<ObservationInput> = {}) =>
        seen({ ts, url: `http://${host}.example/`, ...more });
      const listed = [at(10, 'implied'), at(10, 'again')];
      await store.apply(listed, { feed: 'list', ts: 10 });
      await store.finishListing({ feed: 'list', ts: 20 });
      await store.apply([
        at(10, 'confirmed', { ip: '198.51.100.9' }),
        at(200_000, 'confirmed', { ip: '198.51.100.7' }),
        at(200_000, 'confirmed', { ip: '198.51.100.6' }),
        at(100_000, 'confirmed', { ip: '198.51.100.1' }),
        at(10, 'removed'),
        at(20, 'removed', { status: 'removed' }),
        at(30, 'removed', { status: 'offline' }),
        at(40, 'again', { status: 'offline' }),
        at(50, 'facts', { status: null }),
      ]);
      const all = await collect(store.exportUrls({}, true));
      const found = Object.fromEntries(all.map(({ host, details }) => [host.replace('.example', ''), details]));
      assert.deepEqual(found, {
        confirmed: { confirmedTs: 200_000, address: { ip: '198.51.100.6', asn: null } },
        removed: { confirmedTs: 30, address: null },
        implied: { confirmedTs: null, address: null },
        again: { confirmedTs: 40, address: null },
        facts: { confirmedTs: null, address: null },
      });
    });

    test('a history cut at payloads of one time keeps those with the greatest file keys', async (t) => {
      const url = 'http://a.example/';
      const payloads = ['3', '1', '4', '2', '5'].map((digit) =>
        seen({ ts: T, url, status: null, payload: { sha256: hashOf(digit) } }),
      );
      const newer = seen({ ts: T + 1, url, status: null, payload: { sha256: hashOf('0') } });
      for (const order of [payloads, payloads.toReversed()]) {
        const store = await open(t);
        for (const one of [...order, newer]) await store.apply([one]);
        const digits = async (limit: number) =>
          (await historyOf(store, url, limit))?.payloads.map(({ sha256_hash }) => sha256_hash?.[0]).join('');
        assert.equal(await digits(100), '054321');
        assert.equal(await digits(3), '054');
        assert.equal(await digits(1), '0');
      }
    });
  });
}

/** Data of every kind that a store has. */
async function fill(store: Intelligence): Promise<Observation[]> {
  const at = 'http://192.0.2.1/';
  const url = 'http://a.example/';
  const removed = 'http://removed.example/';
  const inputs: ObservationInput[] = [
    { ts: T, url, reporter: 'ada', ip: '198.51.100.1', asn: 64500 },
    { ts: T + 2 * DAY, url, ip: ['198.51.100.1', '2001:db8::1'], payload: { sha256: hashOf('b') } },
    { ts: T + DAY, url, status: 'offline', reporter: 'bob', payload: { sha256: hashOf('a'), family: 'Mirai' } },
    { ts: T, url: removed, status: 'offline', reporter: 'ada' },
    { ts: T + 10, url: removed, status: 'removed', removal: 'abuse' },
    { ts: T + 20, url: removed, status: 'removed', removal: 'again', reporter: 'eve' },
    { ts: T + 30, url: removed, status: 'offline' },
    { ts: T + 40, url: removed, status: 'offline' },
    { ts: T, url: 'http://facts.example/', status: null },
    { ts: T, url: at, reporter: 'ada', payload: { ts: T - 9 * DAY, fileName: 'no hash', fileSize: 0 } },
    { ts: T + 5, url: at, status: null, payload: {} },
    { ts: T + DAY, url: at, status: 'offline', ip: '192.0.2.2' },
    { ts: T + 5, url: 'http://c.example/', payload: { sha256: hashOf('b'), fileName: 'own', family: 'Own' } },
    { ts: T + 6, url: 'http://d.example/', payload: { sha256: hashOf('b'), family: 'Late', mimeType: 'text/x' } },
  ];
  const observations = inputs.map(seen);
  for (const one of observations) await store.apply([one]);
  const listed = [
    seen({ ts: T, url: 'http://listed.example/', reporter: 'ada' }),
    seen({ ts: T, url: 'http://192.0.2.9/', reporter: 'ada' }),
    seen({ ts: T, url: removed, status: null }),
  ];
  await store.apply(listed, { feed: 'feed', ts: T + 50 });
  await store.finishListing({ feed: 'feed', ts: T + 3 * DAY });
  await store.apply([seen({ ts: T + 4 * DAY, url: 'http://listed.example/', status: 'offline' })]);
  await store.setNetworks([
    { ip: seen({ ts: T, url: 'http://192.0.2.2/' }).addresses[0]?.ip as Uint8Array, asn: 64501 },
  ]);
  return [...observations, ...listed];
}

async function exported(store: Intelligence): Promise<string[]> {
  return (await collect(store.exportObservations({}))).map(printObservation);
}

function fromLine(line: string): Observation {
  const parsed = parseObservation(line, T + 99 * DAY);
  assert.ok(typeof parsed !== 'string', `${parsed}`);
  return seen(parsed);
}
