import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Intelligence } from '../../../src/app/stores.ts';
import { formatIp } from '../../../src/core/ip/address.ts';
import type { UrlDetails } from '../../../src/urls/store.ts';
import { toWireEvent, toWirePayload } from '../../../src/urls/wire.ts';
import { historyOf, lastOf } from '../results.ts';
import type { OpenStore } from './index.ts';
import { DAY, hashOf, NEW_YEAR, seen } from './observations.ts';

const URL = 'http://a.example/x';
const T = NEW_YEAR;
const LIMIT = 100;

export function detailsSuite(open: OpenStore): void {
  suite('details of a URL', () => {
    test('an unknown URL has none', async (t) => {
      assert.equal(await (await open(t)).urlDetails(URL, LIMIT), null);
    });

    test('a URL without a status has no events', async (t) => {
      const store = await open(t);
      await store.apply([seen({ ts: T, url: URL, status: null })]);
      const id = await store.urlId(URL);
      const none = { events: [], payloads: [], addresses: [], tags: [] };
      assert.deepEqual(await store.urlDetails(URL, LIMIT), { id, url: URL, ...none });
    });

    test('each event has the newest time at which its status was seen', async (t) => {
      const store = await open(t);
      const at = (ts: number, status: 'online' | 'offline' | 'removed') => seen({ ts, url: URL, status });
      await store.apply([at(10, 'online'), at(15, 'online'), at(20, 'offline'), at(29, 'offline')]);
      assert.deepEqual(await confirmed(store), ['offline 20 29', 'added 10 15']);
      // Only removals keep their confirmations as entries of their own.
      await store.apply([at(30, 'removed'), at(31, 'removed'), at(40, 'offline'), at(45, 'offline')]);
      assert.deepEqual(await confirmed(store), ['removed 30 45', 'offline 20 29', 'added 10 15']);
      assert.deepEqual(await confirmed(store, 1), ['removed 30 45']);
      await store.apply([at(50, 'online')]);
      assert.deepEqual(await confirmed(store, 2), ['added 50 50', 'removed 30 45']);
    });

    test('an offline that a listing implies was seen by nobody, until somebody does', async (t) => {
      const store = await open(t);
      await store.apply([seen({ ts: 10, url: URL })], { feed: 'one', ts: 10 });
      await store.finishListing({ feed: 'one', ts: 10 });
      await store.finishListing({ feed: 'one', ts: 20 });
      assert.deepEqual(await confirmed(store), ['offline 20 null', 'added 10 10']);
      await store.apply([seen({ ts: 25, url: URL, status: 'offline' })]);
      assert.deepEqual(await confirmed(store), ['offline 20 25', 'added 10 10']);
    });

    test('an added that nobody saw has no confirmation', async (t) => {
      const store = await open(t);
      await store.apply([seen({ ts: 10, url: URL, status: 'offline' })]);
      assert.deepEqual(await confirmed(store), ['offline 10 10', 'added 10 null']);
    });

    test('events and payloads are those of last and history', async (t) => {
      const store = await open(t);
      const times = Array.from({ length: 620 }, (_, i) => i + 1);
      await store.apply(
        times.map((ts) =>
          seen({
            ts,
            url: URL,
            status: ts % 2 === 0 ? 'offline' : 'removed',
            reporter: `r${ts % 3}`,
            payload: { sha256: hashOf((15 - (ts % 16)).toString(16)), fileSize: ts, family: 'Mirai' },
          }),
        ),
      );
      await store.apply(
        ['d', 'a', 'b'].map((digit) => seen({ ts: 620, url: URL, payload: { sha256: hashOf(digit) } })),
      );
      for (const limit of [1, 2, 100]) {
        const details = (await store.urlDetails(URL, limit)) as UrlDetails;
        const history = JSON.parse((await store.urlHistory(URL, limit)) as string);
        assert.deepEqual(details.events.map(toWireEvent), history.events);
        assert.deepEqual(details.payloads.map(toWirePayload), history.payloads);
        assert.equal(details.id, history.id);
      }
      const all = await store.urlDetails(URL, 1_000);
      assert.equal(all?.payloads.length, 623);
      assert.deepEqual((await lastOf(store, URL))?.payload, all?.payloads.map(toWirePayload)[0]);
      assert.equal((await historyOf(store, URL))?.events.length, all?.events.length);
    });

    test('addresses are newest first, each once, with the newest network that is known', async (t) => {
      const store = await open(t);
      await store.apply([
        seen({ ts: T, url: URL, ip: '192.0.2.1', asn: 64_500 }),
        seen({ ts: T + DAY, url: URL, ip: '192.0.2.1', asn: 64_501 }),
        seen({ ts: T + 3 * DAY, url: URL, ip: '192.0.2.1' }),
        seen({ ts: T + 2 * DAY, url: URL, ip: ['198.51.100.1', '2001:db8::1'] }),
        seen({ ts: T + 9 * DAY, url: 'http://b.example/', ip: '203.0.113.1' }),
      ]);
      assert.deepEqual(await addresses(store), [
        `192.0.2.1 64501 ${T + 3 * DAY}`,
        `198.51.100.1 null ${T + 2 * DAY}`,
        `2001:db8::1 null ${T + 2 * DAY}`,
      ]);
    });

    test('of many addresses the newest hundred are returned', async (t) => {
      const store = await open(t);
      const days = Array.from({ length: 260 }, (_, i) => i);
      const addressOf = (i: number) => `192.0.2.${i % 251}`;
      await store.apply(days.map((i) => seen({ ts: T + i * DAY, url: URL, ip: [addressOf(i), '198.51.100.1'] })));
      const found = await addresses(store);
      const newest = days.slice(-99).reverse();
      assert.deepEqual(found, [
        `192.0.2.${259 % 251} null ${T + 259 * DAY}`,
        `198.51.100.1 null ${T + 259 * DAY}`,
        ...newest.slice(1).map((i) => `${addressOf(i)} null ${T + i * DAY}`),
      ]);
    });
  });
}

/** Kind, time and confirmation of each event, newest first. */
async function confirmed(store: Intelligence, limit = LIMIT): Promise<string[] | undefined> {
  return (await store.urlDetails(URL, limit))?.events.map(
    ({ kind, ts, confirmedTs }) => `${kind} ${ts} ${confirmedTs}`,
  );
}

async function addresses(store: Intelligence): Promise<string[] | undefined> {
  return (await store.urlDetails(URL, LIMIT))?.addresses.map(({ ip, asn, ts }) => `${formatIp(ip)} ${asn} ${ts}`);
}
