import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Account } from '../../../src/accounts/store.ts';
import type { OpenControl } from '../../app/control-contract.ts';
import { ADA, BOB, GOLD, raisesVersion } from '../../app/control-records.ts';

export function controlAccountsSuite(open: OpenControl): void {
  suite('accounts', () => {
    test('a new store has no accounts', async (t) => {
      const control = await open(t);
      assert.deepEqual(await control.accounts(), []);
      assert.equal(await control.accountBySub(ADA.sub), null);
      assert.equal(await control.accountByUsername(ADA.usernameKey), null);
    });

    test('accounts are found as they were added, sorted by username', async (t) => {
      const control = await open(t);
      const disabled: Account = { ...BOB, isEnabled: false, generation: 7, tier: 'operator' };
      assert.equal(await control.addAccount(disabled), true);
      assert.equal(await control.addAccount(ADA), true);
      assert.deepEqual(await control.accounts(), [ADA, disabled]);
      assert.deepEqual(await control.accountBySub(BOB.sub), disabled);
      assert.deepEqual(await control.accountByUsername('ada@example'), ADA);
      assert.equal(await control.accountByUsername('Ada@Example'), null);
    });

    test('usernames are sorted by their bytes', async (t) => {
      const control = await open(t);
      const keys = ['a b', 'a-b', 'a.c', 'ab', 'b', 'z', 'ä', '\uffee', '\u{1f600}'];
      for (const [i, usernameKey] of keys.toReversed().entries())
        await control.addAccount({ ...ADA, sub: `${20_000_000 + i}`, usernameKey });
      assert.deepEqual(
        (await control.accounts()).map(({ usernameKey }) => usernameKey),
        keys,
      );
    });

    test('a username or a sub that is taken is refused', async (t) => {
      const control = await open(t);
      await control.addAccount(ADA);
      assert.equal(await control.addAccount({ ...BOB, sub: ADA.sub }), false);
      assert.equal(await control.addAccount({ ...BOB, usernameKey: ADA.usernameKey }), false);
      assert.deepEqual(await control.accounts(), [ADA]);
    });

    test('of concurrent additions of the same username, one succeeds', async (t) => {
      const control = await open(t);
      const tries = Array.from({ length: 20 }, (_, i) => control.addAccount({ ...ADA, sub: `${20_000_000 + i}` }));
      assert.equal((await Promise.all(tries)).filter(Boolean).length, 1);
    });

    test('a change affects only the given fields of the given account', async (t) => {
      const control = await open(t);
      await control.addAccount(ADA);
      await control.addAccount(BOB);
      const changes = [
        [{ tier: 'enterprise' }, { tier: 'enterprise' }],
        [{ isEnabled: false }, { isEnabled: false }],
        [
          { passwordHash: '$new', raisesGeneration: true },
          { passwordHash: '$new', generation: 2 },
        ],
        [{ raisesGeneration: true }, { generation: 3 }],
        [{ isEnabled: true }, { isEnabled: true }],
      ] as const;
      let expected = ADA;
      for (const [change, effect] of changes) {
        assert.equal(await control.changeAccount(ADA.sub, change), true);
        expected = { ...expected, ...effect };
        assert.deepEqual(await control.accountBySub(ADA.sub), expected);
      }
      assert.deepEqual(await control.accountBySub(BOB.sub), BOB);
      assert.equal(await control.changeAccount('99999999', { isEnabled: false }), false);
    });

    test('concurrent raises of the generation are all counted', async (t) => {
      const control = await open(t);
      await control.addAccount(ADA);
      await Promise.all(Array.from({ length: 10 }, () => control.changeAccount(ADA.sub, { raisesGeneration: true })));
      assert.equal((await control.accountBySub(ADA.sub))?.generation, 11);
    });

    test('a removed account is known by its sub, with its limits; its usage stays, and its username is free again', async (t) => {
      const control = await open(t);
      await control.putTier(GOLD);
      await control.addAccount(ADA);
      await control.addAccount({ ...BOB, tier: 'gold' });
      await control.addUsage([{ sub: ADA.sub, day: 1, month: 1, count: 5 }]);
      assert.equal(await control.removeAccount(BOB.sub, 6), true);
      assert.equal(await control.removeAccount(ADA.sub, 7), true);
      assert.equal(await control.removeAccount(ADA.sub, 8), false);
      assert.equal(await control.accountBySub(ADA.sub), null);
      assert.deepEqual(await control.usage(ADA.sub, 1, 1), { day: 5, month: 5 });
      assert.equal(await control.removeTier('gold'), 'removed');
      assert.deepEqual(await control.removedAccounts(), [
        { sub: ADA.sub, tier: 'standard', limits: { qms: 100_000, qmh: 150_000 }, removedTs: 7 },
        { sub: BOB.sub, tier: 'gold', limits: { qms: 10, qmh: 20 }, removedTs: 6 },
      ]);
      assert.equal(await control.addAccount(ADA), false, 'its sub is taken');
      assert.equal(await control.addAccount({ ...ADA, sub: '10000009' }), true);
    });

    test('a new account starts without usage that is stored for its sub', async (t) => {
      const control = await open(t);
      await control.addUsage([{ sub: ADA.sub, day: 1, month: 1, count: 5 }]);
      await control.addAccount(ADA);
      assert.deepEqual(await control.usage(ADA.sub, 1, 1), { day: 0, month: 0 });
    });

    test('an account needs an existing tier', async (t) => {
      const control = await open(t);
      const refusal = { name: 'AppError', code: 'not_found', message: /no tier "gold"/ };
      await assert.rejects(control.addAccount({ ...ADA, tier: 'gold' }), refusal);
      await control.addAccount(ADA);
      await assert.rejects(control.changeAccount(ADA.sub, { tier: 'gold', isEnabled: false }), refusal);
      assert.deepEqual(await control.accounts(), [ADA]);
      await control.putTier(GOLD);
      assert.equal(await control.changeAccount(ADA.sub, { tier: 'gold' }), true);
    });

    test('every change raises the version; a call without effect does not', async (t) => {
      const control = await open(t);
      assert.equal(await raisesVersion(control, () => control.addAccount(ADA)), true);
      assert.equal(await raisesVersion(control, () => control.addAccount(ADA)), false);
      assert.equal(await raisesVersion(control, () => control.changeAccount(ADA.sub, { isEnabled: false })), true);
      assert.equal(await raisesVersion(control, () => control.changeAccount('99999999', { isEnabled: false })), false);
      assert.equal(await raisesVersion(control, () => control.removeAccount(ADA.sub, 7)), true);
      assert.equal(await raisesVersion(control, () => control.removeAccount(ADA.sub, 7)), false);
    });
  });
}
