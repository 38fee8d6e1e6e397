import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Intelligence } from '../../../src/app/stores.ts';
import { RESOLUTION_VECTORS } from '../../vectors/resolutions.ts';
import type { OpenStore } from './index.ts';
import { find, NEW_YEAR, seen } from './observations.ts';

const T = NEW_YEAR;

export function resolutionsSuite(open: OpenStore): void {
  suite('resolutions of one day', () => {
    test('are merged into one', async (t) => {
      const store = await open(t);
      for (const [i, { name, old, given, merged, isChanged }] of RESOLUTION_VECTORS.entries()) {
        const [url, ip] = [`http://a${i}.example/`, `192.0.2.${i}`];
        const observed = ({ ts, asn }: typeof old) => seen({ ts: T + ts, url, ip, ...(asn !== null && { asn }) });
        assert.equal((await store.apply([observed(old)])).resolutionsChanged, 1, name);
        assert.equal((await store.apply([observed(given)])).resolutionsChanged, isChanged ? 1 : 0, name);
        await assertStored(store, { ip, url, ts: T + merged.ts, asn: merged.asn }, name);
      }
    });

    test('are merged in order of arrival inside one batch', async (t) => {
      const store = await open(t);
      for (const [i, { name, old, given, merged, isChanged }] of RESOLUTION_VECTORS.entries()) {
        const [url, ip] = [`http://a${i}.example/`, `192.0.2.${i}`];
        const batch = [old, given].map(({ ts, asn }) => seen({ ts: T + ts, url, ip, ...(asn !== null && { asn }) }));
        assert.equal((await store.apply(batch)).resolutionsChanged, isChanged ? 2 : 1, name);
        await assertStored(store, { ip, url, ts: T + merged.ts, asn: merged.asn }, name);
      }
    });
  });
}

type Stored = { ip: string; url: string; ts: number; asn: number | null };

async function assertStored(store: Intelligence, { ip, url, ts, asn }: Stored, name: string): Promise<void> {
  assert.deepEqual(await find(store, 'ip', ip), [`${ts} ${url}`], name);
  for (const one of [64501, 64502]) {
    const found = (await find(store, 'asn', one)).filter((fact) => fact.endsWith(url));
    assert.deepEqual(found, one === asn ? [`${ts} ${url}`] : [], name);
  }
}
