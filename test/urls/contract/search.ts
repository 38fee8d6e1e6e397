import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Intelligence } from '../../../src/app/stores.ts';
import { lastOf } from '../results.ts';
import type { OpenStore } from './index.ts';
import { ALWAYS, bounds, collectFacts, DAY, factsOf, find, hashOf, NEW_YEAR, searchKey, seen } from './observations.ts';

const T = NEW_YEAR;

export function searchSuite(open: OpenStore): void {
  suite('search', () => {
    test('nothing matches in an empty store', async (t) => {
      const store = await open(t);
      for (const [name, value] of [
        ['ip', '::/0'],
        ['host', 'a.example'],
        ['asn', 64500],
        ['malware_family', 'Mirai'],
        ['sha256', hashOf('a')],
      ] as const) {
        assert.deepEqual(await find(store, name, value), []);
      }
    });

    test('an address is found by itself and by its network', async (t) => {
      const store = await open(t);
      await fillAddresses(store);
      assert.deepEqual(await find(store, 'ip', '198.51.100.7'), [`${T} http://a.example/`]);
      assert.deepEqual(await find(store, 'ip', '198.51.100.8'), [`${T + 1} http://b.example/`]);
      assert.deepEqual(await find(store, 'ip', '198.51.100.8/31'), [`${T + 1} http://b.example/`]);
      assert.deepEqual(await find(store, 'ip', '198.51.100.6/31'), [`${T} http://a.example/`]);
      assert.deepEqual(await find(store, 'ip', '198.51.100.0/24'), [
        `${T} http://a.example/`,
        `${T + 1} http://b.example/`,
      ]);
      assert.deepEqual(await find(store, 'ip', '198.51.101.0/24'), []);
      assert.deepEqual(await find(store, 'ip', '2001:db8::1'), [`${T + 3} http://d.example/`]);
      assert.deepEqual(await find(store, 'ip', '2001:db8::/32'), [`${T + 3} http://d.example/`]);
    });

    test('IPv4 and IPv6 addresses are separate', async (t) => {
      const store = await open(t);
      await fillAddresses(store);
      const ipv4 = ['a', 'b', 'c'].map((name, i) => `${T + i} http://${name}.example/`);
      const ipv6 = [`${T + 3} http://d.example/`, `${T + 4} http://e.example/`, `${T + 5} http://f.example/`];
      assert.deepEqual(await find(store, 'ip', '0.0.0.0/0'), ipv4);
      assert.deepEqual(await find(store, 'ip', '::ffff:0:0/96'), ipv4);
      assert.deepEqual(await find(store, 'ip', '::/0'), ipv6);
      assert.deepEqual(await find(store, 'ip', '::/64'), ipv6.slice(1));
    });

    test('a URL at an address is found by it, also as IPv4-mapped IPv6', async (t) => {
      const store = await open(t);
      await store.apply([
        seen({ ts: T, url: 'http://192.0.2.1/x' }),
        seen({ ts: T, url: 'http://[::ffff:192.0.2.1]/y' }),
      ]);
      assert.deepEqual(await find(store, 'ip', '192.0.2.1'), [
        `${T} http://192.0.2.1/x`,
        `${T} http://[::ffff:c000:201]/y`,
      ]);
      assert.deepEqual(await find(store, 'host', '192.0.2.1'), [`${T} http://192.0.2.1/x`]);
    });

    test('one resolution a day is stored, with its earliest time', async (t) => {
      const store = await open(t);
      const at = (ts: number) => store.apply([seen({ ts, url: 'http://a.example/', ip: '192.0.2.9', asn: 64500 })]);
      for (const ts of [T + 500, T + 900, T + 100, T + DAY - 1, T + DAY, T - 1]) await at(ts);
      const kept = [T - 1, T + 100, T + DAY].map((ts) => `${ts} http://a.example/`);
      assert.deepEqual(await find(store, 'ip', '192.0.2.9'), kept);
      assert.deepEqual(await find(store, 'asn', 64500), kept);
    });

    test('a network that becomes known later is filled in', async (t) => {
      const store = await open(t);
      await store.apply([seen({ ts: T + 5, url: 'http://a.example/', ip: '192.0.2.9' })]);
      assert.deepEqual(await find(store, 'asn', 64500), []);
      await store.apply([seen({ ts: T + 9, url: 'http://a.example/', ip: '192.0.2.9', asn: 64500 })]);
      assert.deepEqual(await find(store, 'asn', 64500), [`${T + 5} http://a.example/`]);
    });

    test('a window limits resolutions at both ends, across buckets', async (t) => {
      const store = await open(t);
      const times = Array.from({ length: 40 }, (_, i) => T + i * 20 * DAY);
      await store.apply(times.map((ts) => seen({ ts, url: 'http://a.example/', ip: ['192.0.2.1', '2001:db8::1'] })));
      const inside = times.slice(7, 31).map((ts) => `${ts} http://a.example/`);
      const window = { since: times[7] ?? 0, until: times[30] ?? 0 };
      assert.deepEqual(await find(store, 'ip', '192.0.2.0/24', window), inside);
      assert.deepEqual(await find(store, 'ip', '2001:db8::/48', window), inside);
      assert.deepEqual(
        await find(store, 'ip', '192.0.2.0/24', { since: window.since + 1, until: window.until - 1 }),
        inside.slice(1, -1),
      );
      assert.deepEqual(await find(store, 'ip', '192.0.2.1', { since: T + 1, until: T }), []);
    });

    test('a host matches the events of its URLs, exactly and without subdomains', async (t) => {
      const store = await open(t);
      await store.apply([
        seen({ ts: T, url: 'http://bücher.example/1' }),
        seen({ ts: T + 9, url: 'http://bücher.example/1', status: 'offline' }),
        seen({ ts: T, url: 'http://www.bücher.example/2' }),
      ]);
      const events = [T, T + 9].map((ts) => `${ts} http://xn--bcher-kva.example/1`);
      assert.deepEqual(await find(store, 'host', 'BÜCHER.example.'), events);
      assert.deepEqual(await find(store, 'host', 'bücher.example', { since: T + 1, until: T + 9 }), events.slice(1));
    });

    test('a confirmed removal is one event', async (t) => {
      const store = await open(t);
      await store.apply([
        seen({ ts: T, url: 'http://a.example/', status: 'removed' }),
        seen({ ts: T + 5, url: 'http://a.example/', status: 'removed' }),
        seen({ ts: T + 6, url: 'http://a.example/', status: 'offline' }),
      ]);
      assert.deepEqual(await find(store, 'host', 'a.example'), [`${T} http://a.example/`, `${T} http://a.example/`]);
    });

    test('a family is found in any letter case, and each spelling is stored', async (t) => {
      const store = await open(t);
      await store.apply([
        seen({ ts: T, url: 'http://a.example/', payload: { sha256: hashOf('a'), family: 'Mirai' } }),
        seen({ ts: T + 1, url: 'http://b.example/', payload: { sha256: hashOf('b'), family: 'MIRAI' } }),
        seen({ ts: T + 2, url: 'http://c.example/', payload: { sha256: hashOf('c'), family: 'Mirai2' } }),
      ]);
      const both = [`${T} http://a.example/`, `${T + 1} http://b.example/`];
      assert.deepEqual(await find(store, 'malware_family', 'mirai'), both);
      assert.equal((await find(store, 'malware_family', 'mIRAI', ALWAYS, 1)).length, 1);
      assert.equal((await lastOf(store, 'http://b.example/'))?.payload?.['malware-family'], 'MIRAI');
    });

    test('a file is found by its hash, in any letter case', async (t) => {
      const store = await open(t);
      await store.apply([
        seen({ ts: T, url: 'http://a.example/', payload: { sha256: hashOf('A') } }),
        seen({ ts: T + 1, url: 'http://b.example/', payload: { sha256: hashOf('a'), ts: T + 9 } }),
        seen({ ts: T, url: 'http://c.example/', payload: { fileName: 'x' } }),
      ]);
      assert.deepEqual(await find(store, 'sha256', hashOf('a')), [
        `${T} http://a.example/`,
        `${T + 9} http://b.example/`,
      ]);
      assert.deepEqual(await find(store, 'sha256', hashOf('a'), { since: T, until: T + 8 }), [
        `${T} http://a.example/`,
      ]);
    });

    test('searches of several pages have each fact once, also if all have one time', async (t) => {
      const store = await open(t);
      const urls = Array.from({ length: 1_307 }, (_, i) => `http://192.0.2.${i % 256}/${i}`);
      await store.apply(
        urls.map((url) => seen({ ts: T, url, asn: 64501, payload: { sha256: hashOf('c'), family: 'Gafgyt' } })),
      );
      const all = urls.map((url) => `${T} ${url}`).sort();
      assert.deepEqual(await find(store, 'ip', '192.0.2.0/24'), all);
      assert.deepEqual(await find(store, 'asn', 64501), all);
      assert.deepEqual(await find(store, 'malware_family', 'gafgyt'), all);
      assert.deepEqual(await find(store, 'sha256', hashOf('c')), all);
      for (const limit of [1, 999, 1_000, 1_001, 1_307]) {
        assert.equal(new Set(await find(store, 'ip', '192.0.2.0/24', ALWAYS, limit)).size, limit);
        assert.equal(new Set(await find(store, 'asn', 64501, ALWAYS, limit)).size, limit);
      }
    });

    test('searches of several pages have each fact once, also if one URL has all of them at one time', async (t) => {
      const store = await open(t);
      const observations = (url: string, count: number) =>
        Array.from({ length: count }, (_, i) => {
          const sha256 = i.toString(16).padStart(64, '0');
          return seen({
            ts: T,
            url,
            ip: `2001:db8::${i.toString(16)}`,
            asn: 64501,
            payload: { sha256, family: 'Gafgyt' },
          });
        });
      await store.apply([...observations('http://a.example/', 1_300), ...observations('http://b.example/', 2_300)]);
      const all = [...Array(1_300).fill(`${T} http://a.example/`), ...Array(2_300).fill(`${T} http://b.example/`)];
      assert.deepEqual(await find(store, 'malware_family', 'gafgyt'), all);
      assert.deepEqual(await find(store, 'asn', 64501), all);
    });

    test('a line is valid JSON for any URL', async (t) => {
      const store = await open(t);
      const url = 'http://192.0.2.1/"\\/\u0001\u007fé\u2028😀';
      await store.apply([{ ...seen({ ts: T, url: 'http://192.0.2.1/' }), url }]);
      for (const [name, value] of [
        ['ip', '192.0.2.1'],
        ['host', '192.0.2.1'],
      ] as const) {
        let text = '';
        for await (const lines of store.search(searchKey(name, value), ALWAYS, bounds())) text += lines;
        assert.equal(text, `${JSON.stringify({ ts: T, id: await store.urlId(url), url })}\n`);
      }
    });

    test('an aborted search throws the reason and reads no further page', async (t) => {
      const store = await open(t);
      await store.apply(Array.from({ length: 1_500 }, (_, i) => seen({ ts: T, url: `http://192.0.2.1/${i}` })));
      for (const [name, value] of [
        ['ip', '192.0.2.1'],
        ['host', '192.0.2.1'],
      ] as const) {
        const called = new AbortController();
        let found = 0;
        const reading = (async () => {
          for await (const page of store.search(searchKey(name, value), ALWAYS, bounds(Infinity, called.signal))) {
            found += factsOf(page).length;
            called.abort(new Error('gone'));
          }
        })();
        await assert.rejects(reading, /gone/);
        assert.ok(found > 0 && found < 1_500);
      }
      assert.equal((await collectFacts(store.search(searchKey('ip', '192.0.2.1'), ALWAYS, bounds()))).length, 1_500);
    });
  });
}

/** a–c at IPv4 addresses, d–f at IPv6 addresses below and above the range in which IPv4 is stored. */
async function fillAddresses(store: Intelligence): Promise<void> {
  const addresses = ['198.51.100.7', '198.51.100.8', '255.255.255.255', '2001:db8::1', '::fffe:ffff:ffff', '::1:0:0:0'];
  await store.apply(addresses.map((ip, i) => seen({ ts: T + i, url: `http://${'abcdef'[i]}.example/`, ip })));
}
