import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Tier } from '../../../src/core/tier.ts';
import type { OpenControl } from '../../app/control-contract.ts';
import { ADA, GOLD, raisesVersion } from '../../app/control-records.ts';

export function controlTiersSuite(open: OpenControl): void {
  suite('tiers', () => {
    test('kept as they were set, replaced whole, listed by name', async (t) => {
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

    test('one that an account has stays until the account leaves it', async (t) => {
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

    test('each change raises the version; what changes nothing does not', async (t) => {
      const control = await open(t);
      assert.equal(await raisesVersion(control, () => control.putTier(GOLD)), true);
      assert.equal(await raisesVersion(control, () => control.removeTier('gold')), true);
      assert.equal(await raisesVersion(control, () => control.removeTier('gold')), false);
    });
  });
}
