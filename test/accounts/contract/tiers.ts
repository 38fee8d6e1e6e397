import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Tier } from '../../../src/core/tier.ts';
import type { OpenControl } from '../../app/control-contract.ts';
import { ADA, GOLD, raisesVersion } from '../../app/control-records.ts';

export function controlTiersSuite(open: OpenControl): void {
  suite('tiers', () => {
    test('tiers are stored as they were set, replaced as a whole, and sorted by name', async (t) => {
      const control = await open(t);
      assert.deepEqual(await control.tiers(), []);
      const bronze: Tier = { name: 'bronze', trs: 'x', ads: [], qms: 0, qmh: 1, rlQps: 1, rlQpm: 2, rlQph: 3 };
      await control.putTier(GOLD);
      await control.putTier(bronze);
      assert.deepEqual(await control.tiers(), [bronze, GOLD]);
      const replaced = { ...GOLD, ads: ['URL'], qmh: 2_147_483_647, rlQpm: null };
      await control.putTier(replaced);
      assert.deepEqual(await control.tiers(), [bronze, replaced]);
    });

    test('a tier can be removed only when no account uses it', async (t) => {
      const control = await open(t);
      await control.putTier(GOLD);
      await control.addAccount({ ...ADA, tier: 'gold' });
      assert.equal(await control.removeTier('gold'), 'in_use');
      assert.deepEqual(await control.tiers(), [GOLD]);
      await control.changeAccount(ADA.sub, { tier: 'standard' });
      assert.equal(await control.removeTier('gold'), 'removed');
      assert.equal(await control.removeTier('gold'), 'unknown');
      assert.deepEqual(await control.tiers(), []);
    });

    test('every change raises the version; a call without effect does not', async (t) => {
      const control = await open(t);
      assert.equal(await raisesVersion(control, () => control.putTier(GOLD)), true);
      assert.equal(await raisesVersion(control, () => control.removeTier('gold')), true);
      assert.equal(await raisesVersion(control, () => control.removeTier('gold')), false);
    });
  });
}
