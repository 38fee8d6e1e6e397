import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { historyOf, lastOf } from '../results.ts';
import type { OpenStore } from './index.ts';
import { ALWAYS, bounds, collect, hashOf, seen } from './observations.ts';

const URL = 'http://a.example/x';

/** Without half surrogates, which no database stores. */
const ESCAPED = ['"', '\\', '\\"},{', '\x01\b\t\n\x1f\x7f', 'ü𝒳\ufeff', '\u2028\u2029', "</script>'"];

export function oneUrlSuite(open: OpenStore): void {
  suite('one URL', () => {
    test('an unknown URL has no data', async (t) => {
      const store = await open(t);
      assert.equal(await store.urlId(URL), null);
      assert.equal(await store.urlLast(URL), null);
      assert.equal(await store.urlHistory(URL, 100), null);
      assert.equal(await store.hasUrl(1), false);
      assert.deepEqual(await collect(store.statuses(1, ALWAYS, bounds())), []);
      assert.deepEqual(await collect(store.payloads(1, bounds())), []);
    });

    test('last shows the newest event and the newest payload', async (t) => {
      const store = await open(t);
      await store.apply([
        seen({ ts: 10, url: URL, reporter: 'ada', payload: { sha256: hashOf('a'), fileName: 'a.sh', fileSize: 7 } }),
        seen({ ts: 20, url: URL, status: 'offline', reporter: 'bob' }),
        seen({ ts: 30, url: URL, status: 'removed', removal: 'takedown', reporter: 'eve' }),
        seen({ ts: 15, url: URL, status: null, payload: { sha256: hashOf('b'), family: 'Mirai', mimeType: 'text/x' } }),
      ]);
      assert.deepEqual(await lastOf(store, URL), {
        id: await store.urlId(URL),
        url: URL,
        status: { ts: 30, status: 'offline', removal: 'takedown', reporter: 'eve' },
        payload: {
          ts: 15,
          mime_type: 'text/x',
          file_type: null,
          file_ext: null,
          file_size: null,
          file_name: null,
          sha256_hash: hashOf('b'),
          'malware-family': 'Mirai',
        },
      });
    });

    test('an observation without a status adds a URL without an event', async (t) => {
      const store = await open(t);
      await store.apply([seen({ ts: 10, url: URL, status: null })]);
      assert.deepEqual(await lastOf(store, URL), { id: await store.urlId(URL), url: URL, status: null, payload: null });
      assert.deepEqual((await historyOf(store, URL))?.events, []);
    });

    test('a payload with details only has neither a hash nor a family', async (t) => {
      const store = await open(t);
      await store.apply([seen({ ts: 10, url: URL, payload: { fileName: 'a.sh', fileSize: 7 } })]);
      const payload = (await lastOf(store, URL))?.payload;
      assert.deepEqual([payload?.sha256_hash, payload?.file_name, payload?.['malware-family']], [null, 'a.sh', null]);
      assert.deepEqual((await historyOf(store, URL))?.payloads, [payload]);
    });

    test('the last of many is the last of each, in their order', async (t) => {
      const store = await open(t);
      const urls = Array.from({ length: 50 }, (_, i) => `http://a.example/${i}`);
      const payload = { sha256: hashOf('a'), family: 'Mirai' };
      await store.apply(urls.slice(0, 20).map((url) => seen({ ts: 10, url, payload })));
      await store.apply(urls.slice(10, 30).map((url) => seen({ ts: 20, url, status: 'removed', removal: 'takedown' })));
      await store.apply(urls.slice(30, 32).map((url) => seen({ ts: 20, url, status: null })));
      const asked = [...urls.toReversed(), ...urls.slice(15, 35)];
      const expected: Awaited<ReturnType<typeof lastOf>>[] = [];
      for (const url of asked) expected.push(await lastOf(store, url));
      assert.equal(expected.filter((last) => last !== null).length, 32 + 17);
      const parsed = async (view: 'last' | 'status') =>
        (await store.lastOfMany(asked, view)).map((json) => (json === null ? null : JSON.parse(json)));
      assert.deepEqual(await parsed('last'), expected);
      const statuses = expected.map((last) => last && { id: last.id, url: last.url, status: last.status });
      assert.deepEqual(await parsed('status'), statuses);
      assert.deepEqual(await store.lastOfMany([], 'last'), []);
    });

    test('lookups at the same time get the response for their own URL', async (t) => {
      const store = await open(t);
      const urls = Array.from({ length: 250 }, (_, i) => `http://a.example/${i}`);
      const isKnown = (i: number) => i % 3 > 0;
      await store.apply(urls.filter((_, i) => isKnown(i)).map((url, i) => seen({ ts: 10 + i, url })));
      const asked = [...urls, ...urls.slice(100, 130)];
      const found = await Promise.all(asked.map((url) => lastOf(store, url)));
      assert.deepEqual(
        found.map((last) => last?.url ?? null),
        asked.map((url) => (isKnown(urls.indexOf(url)) ? url : null)),
      );
    });

    for (const text of ESCAPED) {
      test(`last and history are valid response bodies with ${JSON.stringify(text)} in every text`, async (t) => {
        const store = await open(t);
        const file = { sha256: hashOf('a'), mimeType: text, fileType: text, fileExt: text, fileSize: 7, family: text };
        const online = seen({ ts: 10, url: URL, payload: { sha256: hashOf('a') } });
        const removed = seen({ ts: 20, url: URL, status: 'removed' });
        // `seen` refuses control characters, but a store must escape whatever it has.
        await store.apply([{ ...online, reporter: text, payload: { ...file, ts: 10, fileName: 'first' } }]);
        await store.apply([{ ...online, ts: 15, payload: { ...file, ts: 15, fileName: text } }]);
        await store.apply([{ ...removed, removal: text, reporter: text }]);
        const id = await store.urlId(URL);
        const payload = (ts: number, name: string) => ({
          ts,
          mime_type: text,
          file_type: text,
          file_ext: text,
          file_size: 7,
          file_name: name,
          sha256_hash: hashOf('a'),
          'malware-family': text,
        });
        const status = { ts: 20, status: 'offline', removal: text, reporter: text };
        assert.equal(await store.urlLast(URL), JSON.stringify({ id, url: URL, status, payload: payload(15, text) }));
        const events = [
          { ts: 20, status: 'removed', removal: text, reporter: text },
          { ts: 10, status: 'added', removal: '', reporter: text },
        ];
        const payloads = [payload(15, text), payload(10, 'first')];
        assert.equal(await store.urlHistory(URL, 100), JSON.stringify({ id, url: URL, events, payloads }));
      });
    }

    test('last and history order payloads by time, then by file key, in every order of arrival', async (t) => {
      const store = await open(t);
      const served = [
        [10, 'b'],
        [10, 'c'],
        [20, 'a'],
        [20, 'd'],
      ] as const;
      const newestFirst = ['d', 'a', 'c', 'b'].map(hashOf);
      for (const [i, order] of permutations(served).entries()) {
        for (const size of [1, 2, 4]) {
          const url = `http://a.example/${i}/${size}`;
          const batch = order.map(([ts, digit]) => seen({ ts, url, status: null, payload: { sha256: hashOf(digit) } }));
          for (let at = 0; at < batch.length; at += size) await store.apply(batch.slice(at, at + size));
          await store.apply(batch.slice(1, 3));
          const hashes = (await historyOf(store, url))?.payloads.map(({ sha256_hash }) => sha256_hash);
          assert.deepEqual(hashes, newestFirst, url);
          assert.equal((await lastOf(store, url))?.payload?.sha256_hash, newestFirst[0], url);
        }
      }
    });

    test('a history is newest first and has at most limit records', async (t) => {
      const store = await open(t);
      const hours = Array.from({ length: 130 }, (_, i) => i + 1);
      await store.apply(
        hours.map((ts) =>
          seen({ ts, url: URL, status: ts % 2 === 0 ? 'offline' : 'online', payload: { fileName: `${ts}` } }),
        ),
      );
      const history = await historyOf(store, URL);
      const newest = hours.slice(-100).reverse();
      assert.deepEqual(
        history?.events.map(({ ts }) => ts),
        newest,
      );
      assert.deepEqual(
        history?.payloads.map(({ ts, file_name }) => [ts, file_name]),
        newest.map((ts) => [ts, `${ts}`]),
      );
    });

    test('statuses are newest first, inside the window with both ends, at most limit', async (t) => {
      const store = await open(t);
      await store.apply([
        seen({ ts: 10, url: URL, status: 'offline' }),
        seen({ ts: 20, url: URL }),
        seen({ ts: 30, url: URL, status: 'removed' }),
        seen({ ts: 40, url: URL, status: 'offline' }),
      ]);
      const id = (await store.urlId(URL)) ?? 0;
      const read = async (since: number, until: number, limit?: number) =>
        (await collect(store.statuses(id, { since, until }, bounds(limit)))).map(({ kind, ts }) => `${kind}@${ts}`);
      assert.deepEqual(await read(0, 99), ['removed@30', 'online@20', 'offline@10', 'added@10']);
      assert.deepEqual(await read(10, 20), ['online@20', 'offline@10', 'added@10']);
      assert.deepEqual(await read(11, 19), []);
      assert.deepEqual(await read(21, 20), []);
      assert.deepEqual(await read(0, 99, 3), ['removed@30', 'online@20', 'offline@10']);
      assert.equal(await store.hasUrl(id), true);
    });

    test('streams of several pages have each record once', async (t) => {
      const store = await open(t);
      const times = Array.from({ length: 1_203 }, (_, i) => i + 1);
      await store.apply(
        times.map((ts) =>
          seen({ ts, url: URL, status: ts % 2 === 0 ? 'offline' : 'online', payload: { fileSize: ts } }),
        ),
      );
      const id = (await store.urlId(URL)) ?? 0;
      const statuses = await collect(store.statuses(id, ALWAYS, bounds()));
      assert.deepEqual(
        statuses.map(({ ts }) => ts),
        times.toReversed(),
      );
      const payloads = await collect(store.payloads(id, bounds()));
      assert.deepEqual(
        payloads.map(({ fileSize }) => fileSize),
        times.toReversed(),
      );
      const limited = await collect(store.payloads(id, bounds(701)));
      assert.deepEqual(
        limited.map(({ ts }) => ts),
        times.toReversed().slice(0, 701),
      );
    });
  });
}

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, i) => permutations(items.toSpliced(i, 1)).map((rest) => [item, ...rest]));
}
