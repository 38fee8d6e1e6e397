import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Intelligence } from '../../../src/app/stores.ts';
import { NO_DETAILS } from '../../../src/core/observation.ts';
import { historyOf, lastOf } from '../results.ts';
import type { OpenStore } from './index.ts';
import { hashOf, NEW_YEAR, seen } from './observations.ts';

const T = NEW_YEAR;

type Step = (store: Intelligence, name: string) => Promise<unknown>;

/** Each order uses a URL and files of its own, so that all of them share a store. */
const urlOf = (name: string) => `http://${name}.example/`;
const shaOf = (name: string, digit: string) => (name + digit.repeat(64)).slice(0, 64);
const served = (ts: number, payload: (name: string) => object): Step => {
  return (store, name) => store.apply([seen({ ts, url: urlOf(name), status: null, payload: payload(name) })]);
};

const STEPS: Record<string, Step> = {
  bare: served(T + 5, () => ({ family: 'mozi' })),
  newest: served(T + 9, () => ({ family: 'Mozi' })),
  other: served(T + 7, () => ({ family: 'Mirai' })),
  file: served(T + 1, (name) => ({ sha256: shaOf(name, 'a') })),
  family: (store, name) => store.applyFiles([{ ...NO_DETAILS, sha256: shaOf(name, 'a'), family: 'MOZI' }]),
  typed: served(T + 2, () => ({ family: 'Mozi', fileType: 'elf' })),
};

function orders<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, i) => orders(items.toSpliced(i, 1)).map((rest) => [item, ...rest]));
}

async function payloadsOf(store: Intelligence, name: string): Promise<string[]> {
  const payloads = (await historyOf(store, urlOf(name), 100))?.payloads ?? [];
  return payloads.map(({ ts, sha256_hash: hash, ...payload }) => {
    return `${ts - T} ${payload['malware-family']} ${payload.file_type} ${hash === null ? 'no hash' : 'hash'}`;
  });
}

export function barePayloadsSuite(open: OpenStore): void {
  suite('payloads with nothing but a family', () => {
    test('a URL has none beside a payload with a file and that family, in any order of arrival', async (t) => {
      const store = await open(t);
      const names = Object.keys(STEPS);
      // A step at its own time, and every step before and after every other one.
      const some = orders(names).filter((_, i) => i % 29 === 0);
      for (const [i, order] of some.entries()) {
        const name = `ab${i.toString(16).padStart(2, '0')}`;
        for (const step of order) await STEPS[step]?.(store, name);
        const expected = ['7 Mirai null no hash', '2 Mozi elf no hash', '1 MOZI null hash'];
        assert.deepEqual(await payloadsOf(store, name), expected, order.join());
        assert.equal((await lastOf(store, urlOf(name)))?.payload?.ts, T + 7, order.join());
      }
      assert.deepEqual((await store.checkRows('urls', [0])).faults, []);
    });

    test('the last payload is right after its deletion; a batch may have both, and changes nothing again', async (t) => {
      const store = await open(t);
      const bare = seen({ ts: T + 9, url: urlOf('a'), payload: { family: 'Mozi' } });
      const file = seen({ ts: T + 1, url: urlOf('a'), payload: { sha256: hashOf('a'), family: 'Mozi' } });
      assert.equal((await store.apply([bare])).payloadsAdded, 1);
      assert.equal((await lastOf(store, urlOf('a')))?.payload?.ts, T + 9);
      assert.equal((await store.apply([file])).payloadsAdded, 1);
      assert.equal((await lastOf(store, urlOf('a')))?.payload?.ts, T + 1);
      assert.equal((await store.apply([bare, file])).payloadsAdded, 0);
      const ofB = [bare, file].map((one) => ({ ...one, url: urlOf('b'), host: 'b.example' }));
      assert.equal((await store.apply(ofB)).payloadsAdded, 1);
      for (const name of ['a', 'b']) {
        assert.deepEqual(await payloadsOf(store, name), ['1 Mozi null hash']);
        assert.equal((await lastOf(store, urlOf(name)))?.payload?.ts, T + 1);
      }
    });

    test('a payload that has more than a family stays, and so does one of another family or of another URL', async (t) => {
      const store = await open(t);
      await store.apply([
        seen({ ts: T, url: urlOf('a'), payload: { family: 'Mozi', fileSize: 1 } }),
        seen({ ts: T, url: urlOf('a'), payload: { family: 'Mirai' } }),
        seen({ ts: T, url: urlOf('b'), payload: { family: 'Mozi' } }),
        seen({ ts: T, url: urlOf('c'), payload: { sha256: hashOf('c') } }),
      ]);
      await store.apply([
        seen({ ts: T + 1, url: urlOf('a'), payload: { sha256: hashOf('a'), family: 'Mozi' } }),
        seen({ ts: T + 1, url: urlOf('c'), payload: { family: 'Mozi' } }),
      ]);
      assert.deepEqual((await payloadsOf(store, 'a')).length, 3);
      assert.deepEqual((await payloadsOf(store, 'b')).length, 1);
      assert.deepEqual((await payloadsOf(store, 'c')).length, 2);
    });
  });
}
