import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { OpenStore } from './index.ts';
import { ALWAYS, bounds, collect, hashOf, seen } from './observations.ts';

const URL = 'http://a.example/x';

export function oneUrlSuite(open: OpenStore): void {
  suite('one URL', () => {
    test('unknown to every read', async (t) => {
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
      assert.deepEqual(await store.urlLast(URL), {
        id: await store.urlId(URL),
        url: URL,
        event: { ts: 30, kind: 'removed', removal: 'takedown', reporter: 'eve' },
        payload: {
          ts: 15,
          sha256: hashOf('b'),
          mimeType: 'text/x',
          fileType: null,
          fileExt: null,
          fileSize: null,
          fileName: null,
          family: 'Mirai',
        },
      });
    });

    test('facts without a status make a URL known without an event', async (t) => {
      const store = await open(t);
      await store.apply([seen({ ts: 10, url: URL, status: null })]);
      assert.deepEqual(await store.urlLast(URL), { id: await store.urlId(URL), url: URL, event: null, payload: null });
      assert.deepEqual((await store.urlHistory(URL, 100))?.events, []);
    });

    test('a payload of which only details are known has no hash, and one without a family none', async (t) => {
      const store = await open(t);
      await store.apply([seen({ ts: 10, url: URL, payload: { fileName: 'a.sh', fileSize: 7 } })]);
      const { payload } = (await store.urlLast(URL)) ?? {};
      assert.deepEqual([payload?.sha256, payload?.fileName, payload?.family], [null, 'a.sh', null]);
      assert.deepEqual((await store.urlHistory(URL, 100))?.payloads, [payload]);
    });

    test('the last payload at equal times does not depend on the order of arrival', async (t) => {
      const [a, b] = ['a', 'b'].map((digit) =>
        seen({ ts: 10, url: URL, status: null, payload: { sha256: hashOf(digit) } }),
      );
      assert.ok(a && b);
      for (const batches of [
        [a, b],
        [b, a],
      ]) {
        const store = await open(t);
        for (const one of batches) await store.apply([one]);
        assert.equal((await store.urlLast(URL))?.payload?.sha256, hashOf('b'));
      }
    });

    test('history is newest first and ends at the limit', async (t) => {
      const store = await open(t);
      const hours = Array.from({ length: 130 }, (_, i) => i + 1);
      await store.apply(
        hours.map((ts) =>
          seen({ ts, url: URL, status: ts % 2 === 0 ? 'offline' : 'online', payload: { fileName: `${ts}` } }),
        ),
      );
      const history = await store.urlHistory(URL, 100);
      const newest = hours.slice(-100).reverse();
      assert.deepEqual(
        history?.events.map(({ ts }) => ts),
        newest,
      );
      assert.deepEqual(
        history?.payloads.map(({ ts, fileName }) => [ts, fileName]),
        newest.map((ts) => [ts, `${ts}`]),
      );
    });

    test('statuses come newest first, inside the window, both ends included, at most limit', async (t) => {
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

    test('streams of several pages give each record once', async (t) => {
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
