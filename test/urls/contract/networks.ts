import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Intelligence } from '../../../src/app/stores.ts';
import { formatIp, parseIp } from '../../../src/core/ip/address.ts';
import type { OpenStore } from './index.ts';
import { collect, DAY, find, NEW_YEAR, seen } from './observations.ts';

const T = NEW_YEAR;

export function networksSuite(open: OpenStore): void {
  suite('networks', () => {
    test('addresses without a network are listed until their network is set', async (t) => {
      const store = await open(t);
      await store.apply([
        seen({ ts: T, url: 'http://a.example/', ip: ['192.0.2.2', '2001:db8::1'] }),
        seen({ ts: T + 90 * DAY, url: 'http://a.example/', ip: '192.0.2.2' }),
        seen({ ts: T, url: 'http://b.example/', ip: '192.0.2.2' }),
        seen({ ts: T, url: 'http://c.example/', ip: '192.0.2.3', asn: 64499 }),
        seen({ ts: T + DAY, url: 'http://c.example/', ip: '192.0.2.3' }),
      ]);
      assert.deepEqual(await networkless(store), ['192.0.2.2', '192.0.2.3', '2001:db8::1']);
      assert.equal(await store.setNetworks([network('192.0.2.2', 64500), network('192.0.2.3', 64500)]), 4);
      assert.equal(await store.setNetworks([network('192.0.2.2', 64501), network('192.0.2.9', 64501)]), 0);
      assert.deepEqual(await find(store, 'asn', 64499), [`${T} http://c.example/`]);
      assert.equal((await find(store, 'asn', 64500)).length, 4);
      assert.deepEqual(await networkless(store), ['2001:db8::1']);
      assert.equal(await store.setNetworks([]), 0);
    });

    test('an address of thousands of URLs', async (t) => {
      const store = await open(t);
      await store.apply(Array.from({ length: 5_003 }, (_, i) => seen({ ts: T, url: `http://192.0.2.1/${i}` })));
      assert.deepEqual(await networkless(store), ['192.0.2.1']);
      assert.equal(await store.setNetworks([network('192.0.2.1', 64500)]), 5_003);
      assert.equal((await find(store, 'asn', 64500)).length, 5_003);
    });
  });
}

async function networkless(store: Intelligence): Promise<string[]> {
  const addresses = await collect(store.networklessAddresses(new AbortController().signal));
  return [...new Set(addresses.map(formatIp))].sort();
}

function network(ip: string, asn: number) {
  return { ip: parseIp(ip) as Uint8Array, asn };
}
