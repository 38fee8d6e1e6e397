import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Control } from '../../../src/app/stores.ts';
import type { OpenControl } from '../../app/control-contract.ts';
import { key, raisesVersion } from '../../app/control-records.ts';

export function controlKeysSuite(open: OpenControl): void {
  suite('signing keys', () => {
    test('the last added key comes first, also when the clock was set back', async (t) => {
      const control = await open(t);
      assert.deepEqual(await control.keys(), []);
      await control.addKey(key('a', 100), 0);
      await control.addKey(key('b', 100), 0);
      await control.addKey(key('c', 50), 0);
      assert.deepEqual((await control.keys()).map(plain), [key('c', 50), key('b', 100), key('a', 100)].map(plain));
    });

    test('keys superseded before keepSince are dropped, the new key never', async (t) => {
      const kept = async (keepSince: number) => {
        const control = await open(t);
        for (const [kid, ts] of [['a', 0] as const, ['b', 10] as const, ['c', 20] as const])
          await control.addKey(key(kid, ts), 0);
        await control.addKey(key('d', 100), keepSince);
        return kids(control);
      };
      assert.deepEqual(await kept(10), ['d', 'c', 'b', 'a'], 'a was superseded at 10');
      assert.deepEqual(await kept(11), ['d', 'c', 'b']);
      assert.deepEqual(await kept(20), ['d', 'c', 'b']);
      assert.deepEqual(await kept(21), ['d', 'c']);
      assert.deepEqual(await kept(100), ['d', 'c']);
      assert.deepEqual(await kept(101), ['d']);
    });

    test('ensureKey adds only the first key and returns the key that signs', async (t) => {
      const control = await open(t);
      const offered = ['a', 'b', 'c', 'd'].map((kid) => key(kid, 1));
      const returned = await Promise.all(offered.map((one) => control.ensureKey(one)));
      const [only, ...others] = await control.keys();
      assert.ok(only !== undefined && others.length === 0);
      for (const one of returned) assert.deepEqual(plain(one), plain(only));
      await control.addKey(key('e', 2), 0);
      assert.equal((await control.ensureKey(key('f', 3))).kid, 'e');
    });

    test('every change raises the version; a call without effect does not', async (t) => {
      const control = await open(t);
      assert.equal(await raisesVersion(control, () => control.ensureKey(key('a', 1))), true);
      assert.equal(await raisesVersion(control, () => control.ensureKey(key('b', 1))), false);
      assert.equal(await raisesVersion(control, () => control.addKey(key('c', 1), 0)), true);
    });
  });
}

async function kids(control: Control): Promise<string[]> {
  return (await control.keys()).map(({ kid }) => kid);
}

/** Engines return different classes of byte arrays. */
function plain({ kid, secret, createdTs }: { kid: string; secret: Uint8Array; createdTs: number }) {
  return { kid, secret: Buffer.from(secret).toString('hex'), createdTs };
}
