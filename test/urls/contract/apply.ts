import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Observation } from '../../../src/core/observation.ts';
import { historyOf, lastOf } from '../results.ts';
import { dump } from './dump.ts';
import type { OpenStore } from './index.ts';
import { find, hashOf, NEW_YEAR, seen } from './observations.ts';

const T = NEW_YEAR;
const NOTHING = { urlsAdded: 0, eventsChanged: 0, payloadsAdded: 0, resolutionsChanged: 0, newestEventTs: null };

export function applySuite(open: OpenStore): void {
  suite('apply', () => {
    test('reports the number of changes, and none the second time', async (t) => {
      const store = await open(t);
      const batch = [
        seen({ ts: T, url: 'http://192.0.2.1/a', payload: { sha256: hashOf('a') } }),
        seen({ ts: T + 9, url: 'http://192.0.2.1/a', status: 'offline' }),
        seen({ ts: T, url: 'http://b.example/', status: 'removed', removal: 'abuse' }),
      ];
      assert.deepEqual(await store.apply(batch), {
        urlsAdded: 2,
        eventsChanged: 4,
        payloadsAdded: 1,
        resolutionsChanged: 1,
        newestEventTs: T + 9,
      });
      assert.deepEqual(await store.apply(batch), NOTHING);
      assert.deepEqual(await store.apply([]), NOTHING);
    });

    test('reports the newest event of the URLs whose events changed, not that of a confirmation', async (t) => {
      const store = await open(t);
      const at = async (ts: number, url: string) => (await store.apply([seen({ ts, url })])).newestEventTs;
      assert.equal(await at(T, 'http://a.example/'), T);
      assert.equal(await at(T + 9, 'http://a.example/'), null, 'a confirmation');
      assert.equal(await at(0, 'http://b.example/'), 0);
    });

    test('observations in order of time have the same result in one batch and in many', async (t) => {
      const observations = manyObservations();
      const whole = await open(t);
      await whole.apply(observations);
      const pieces = await open(t);
      for (let i = 0; i < observations.length; i += 7) await pieces.apply(observations.slice(i, i + 7));
      assert.deepEqual(await dump(pieces, observations), await dump(whole, observations));
      await pieces.apply(observations);
      assert.deepEqual(await dump(pieces, observations), await dump(whole, observations));
    });

    test('batches in reverse order end in the same last statuses', async (t) => {
      const observations = manyObservations();
      const forth = await open(t);
      await forth.apply(observations);
      const back = await open(t);
      for (let i = observations.length; i > 0; i -= 9) await back.apply(observations.slice(Math.max(0, i - 9), i));
      for (const { url } of observations) {
        const [a, b] = [await lastOf(forth, url), await lastOf(back, url)];
        assert.deepEqual([a?.status?.removal, a?.status?.status], [b?.status?.removal, b?.status?.status]);
      }
    });

    test('details of a file apply to earlier and later payloads; the details of an observation win', async (t) => {
      const store = await open(t);
      const of = (name: string, details: object) =>
        seen({ ts: T, url: `http://${name}.example/`, payload: { sha256: hashOf('a'), ...details } });
      await store.apply([of('before', {}), of('other', { fileName: 'other.exe', family: 'Other' })]);
      await store.apply([of('own', { fileName: 'own.exe', fileSize: 0, fileType: 'exe', family: 'Own' })]);
      await store.apply([of('after', {})]);
      const payload = async (name: string) => (await lastOf(store, `http://${name}.example/`))?.payload;
      assert.deepEqual(
        { ...(await payload('other')) },
        {
          ts: T,
          mime_type: null,
          file_type: 'exe',
          file_ext: null,
          file_size: 0,
          file_name: 'other.exe',
          sha256_hash: hashOf('a'),
          'malware-family': 'Other',
        },
      );
      assert.equal((await payload('own'))?.file_name, 'own.exe');
      assert.equal((await payload('own'))?.['malware-family'], 'Own');
      for (const name of ['before', 'after']) assert.equal((await payload(name))?.file_name, 'other.exe');
      assert.deepEqual(await find(store, 'malware_family', 'other'), [
        `${T} http://after.example/`,
        `${T} http://before.example/`,
        `${T} http://other.example/`,
      ]);
      assert.deepEqual(await find(store, 'malware_family', 'own'), [`${T} http://own.example/`]);
    });

    test('a family that becomes known is set in thousands of earlier payloads', async (t) => {
      const store = await open(t);
      const urls = Array.from({ length: 6_001 }, (_, i) => `http://a.example/${i}`);
      await store.apply(urls.map((url) => seen({ ts: T, url, payload: { sha256: hashOf('a') } })));
      assert.deepEqual(await find(store, 'malware_family', 'late'), []);
      await store.apply([seen({ ts: T, url: 'http://b.example/', payload: { sha256: hashOf('a'), family: 'Late' } })]);
      assert.equal((await find(store, 'malware_family', 'late')).length, 6_002);
    });

    test('a payload is one fact per URL, time and file', async (t) => {
      const store = await open(t);
      const url = 'http://a.example/';
      const of = (payload: object) => seen({ ts: T, url, payload });
      await store.apply([
        of({ sha256: hashOf('a') }),
        of({ sha256: hashOf('a'), fileName: 'late name' }),
        of({ sha256: hashOf('a'), ts: T + 1 }),
        of({ sha256: hashOf('b') }),
        of({ fileName: 'no hash' }),
        of({ fileName: 'no hash' }),
        of({ fileName: 'no hash', fileSize: 1 }),
      ]);
      const payloads = (await historyOf(store, url))?.payloads ?? [];
      const facts = payloads.map(({ ts, sha256_hash, file_name, file_size }) =>
        [ts - T, sha256_hash?.[0], file_name, file_size].join(),
      );
      assert.deepEqual(facts.sort(), ['0,,no hash,', '0,,no hash,1', '0,a,late name,', '0,b,,', '1,a,late name,']);
    });

    test('concurrent batches are all applied', async (t) => {
      const store = await open(t);
      const reports = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store.apply([seen({ ts: T + i, url: `http://a.example/${i % 5}` })])),
      );
      assert.equal(
        reports.reduce((sum, { urlsAdded }) => sum + urlsAdded, 0),
        5,
      );
    });

    test('the longest URL, the longest texts and the greatest numbers are stored unchanged', async (t) => {
      const store = await open(t);
      const url = `http://a.example/${'x'.repeat(8_192 - 17)}`;
      const text = 'ü'.repeat(1_024);
      await store.apply([
        seen({
          ts: T,
          url,
          reporter: text,
          status: 'removed',
          removal: text,
          payload: { fileName: text, fileSize: Number.MAX_SAFE_INTEGER },
        }),
      ]);
      const last = await lastOf(store, url);
      assert.deepEqual(
        [last?.url, last?.status?.removal, last?.status?.reporter, last?.payload?.file_name, last?.payload?.file_size],
        [url, text, text, text, Number.MAX_SAFE_INTEGER],
      );
    });
  });
}

/** A few hundred observations of a few URLs, in order of time. */
function manyObservations(): Observation[] {
  const statuses = ['online', 'offline', 'online', 'removed', 'offline', 'online', 'removed'] as const;
  return Array.from({ length: 300 }, (_, i) => {
    const status = statuses[(i * 5 + (i % 11)) % statuses.length] ?? 'online';
    return seen({
      ts: T + i * 3_000,
      url: `http://192.0.2.${i % 13}/x`,
      status,
      ...(status === 'removed' ? { removal: `reason ${i % 3}` } : {}),
      reporter: `reporter ${i % 4}`,
      ...(i % 3 === 0 ? { payload: { sha256: hashOf('abc'[i % 2] ?? 'c'), family: `Family ${i % 5}` } } : {}),
    });
  });
}
