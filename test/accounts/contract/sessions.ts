import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Session, SessionBounds } from '../../../src/accounts/store.ts';
import type { Control } from '../../../src/app/stores.ts';
import type { OpenControl } from '../../app/control-contract.ts';
import { ADA, BOB, raisesVersion } from '../../app/control-records.ts';

const BOUNDS: SessionBounds = { keepSince: 0, maxPerAccount: 100, maxDeleted: 1_000 };

const session = (n: number, fields: Partial<Session> = {}): Session => ({
  id: n.toString(16).padStart(64, '0'),
  sub: ADA.sub,
  generation: 1,
  createdTs: 1_000,
  usedTs: 1_000 + n,
  address: '192.0.2.1',
  agent: 'Browser/1.0 "ä" \\',
  ...fields,
});

const idsOf = async (control: Control, sub = ADA.sub) => (await control.sessions(sub)).map(({ id }) => id);

export function controlSessionsSuite(open: OpenControl): void {
  suite('sessions', () => {
    test('sessions are found as they were added, the last used first', async (t) => {
      const control = await open(t);
      const [one, two, ofBob] = [session(1), session(0xfe02), session(3, { sub: BOB.sub })];
      for (const each of [one, two, ofBob]) await control.addSession(each, BOUNDS);
      assert.deepEqual(await control.findSessions([one.id]), [one]);
      assert.deepEqual(await control.findSessions([one.id, ofBob.id, session(9).id].toSorted()), [one, ofBob]);
      assert.deepEqual(await control.findSessions([]), []);
      assert.deepEqual(await control.sessions(ADA.sub), [two, one]);
    });

    test('an addition deletes sessions that have ended, up to a maximum', async (t) => {
      const control = await open(t);
      for (let n = 1; n <= 5; n++) await control.addSession(session(n), BOUNDS);
      await control.addSession(session(6), { ...BOUNDS, keepSince: 1_004, maxDeleted: 2 });
      assert.deepEqual(
        await idsOf(control),
        [6, 5, 4, 3].map((n) => session(n).id),
      );
      await control.addSession(session(7), { ...BOUNDS, keepSince: 1_004 });
      assert.deepEqual(
        await idsOf(control),
        [7, 6, 5, 4].map((n) => session(n).id),
      );
    });

    test('an addition deletes the longest unused sessions of the account above its maximum', async (t) => {
      const control = await open(t);
      await control.addSession(session(9, { sub: BOB.sub, usedTs: 1 }), BOUNDS);
      for (let n = 1; n <= 5; n++) await control.addSession(session(n), { ...BOUNDS, maxPerAccount: 3 });
      assert.deepEqual(
        await idsOf(control),
        [5, 4, 3].map((n) => session(n).id),
      );
      assert.equal((await idsOf(control, BOB.sub)).length, 1);
    });

    test('the time of the last use only grows', async (t) => {
      const control = await open(t);
      await control.addSession(session(1), BOUNDS);
      await control.touchSession(session(1).id, 5_000);
      await control.touchSession(session(1).id, 4_000);
      await control.touchSession(session(2).id, 5_000);
      assert.deepEqual(await control.sessions(ADA.sub), [session(1, { usedTs: 5_000 })]);
    });

    test('an account ends one of its sessions, or all others, and none of another account', async (t) => {
      const control = await open(t);
      for (let n = 1; n <= 4; n++) await control.addSession(session(n), BOUNDS);
      await control.addSession(session(9, { sub: BOB.sub }), BOUNDS);
      assert.equal(await control.endSessions(ADA.sub, session(9).id, 'this'), 0);
      assert.equal(await control.endSessions(ADA.sub, session(2).id, 'this'), 1);
      assert.equal(await control.endSessions(ADA.sub, session(2).id, 'this'), 0);
      assert.equal(await control.endSessions(ADA.sub, session(1).id, 'others'), 2);
      assert.deepEqual(await idsOf(control), [session(1).id]);
      assert.equal(await control.endSessions(ADA.sub, '', 'others'), 1);
      assert.equal((await idsOf(control, BOB.sub)).length, 1);
    });

    test('a new password, a revocation and the removal of an account delete its sessions; other changes do not', async (t) => {
      for (const [change, left] of [
        [{ tier: 'enterprise' }, 1],
        [{ isEnabled: false }, 1],
        [{ raisesGeneration: true }, 0],
        [{ passwordHash: '$new', raisesGeneration: true }, 0],
        ['remove', 0],
      ] as const) {
        const control = await open(t);
        for (const each of [ADA, BOB]) await control.addAccount(each);
        await control.addSession(session(1), BOUNDS);
        await control.addSession(session(2, { sub: BOB.sub }), BOUNDS);
        if (change === 'remove') await control.removeAccount(ADA.sub, 7);
        else await control.changeAccount(ADA.sub, change);
        assert.equal((await idsOf(control)).length, left, JSON.stringify(change));
        assert.equal((await idsOf(control, BOB.sub)).length, 1);
      }
    });

    test('no write to sessions raises the version', async (t) => {
      const control = await open(t);
      const works = [
        () => control.addSession(session(1), BOUNDS),
        () => control.touchSession(session(1).id, 9_000),
        () => control.endSessions(ADA.sub, session(1).id, 'this'),
      ];
      for (const work of works) assert.equal(await raisesVersion(control, work), false);
    });
  });

  suite('administrators', () => {
    const REFUSED = { name: 'AppError', code: 'bad_request', message: /last enabled administrator/ };
    const ADMIN = { ...ADA, isAdmin: true };

    test('the last enabled administrator keeps the role, stays enabled and is not removed', async (t) => {
      const control = await open(t);
      await control.addAccount(ADMIN);
      await control.addAccount(BOB);
      const takeRole = [
        () => control.changeAccount(ADA.sub, { isAdmin: false }),
        () => control.changeAccount(ADA.sub, { isEnabled: false, tier: 'enterprise' }),
        () => control.removeAccount(ADA.sub, 7),
      ];
      for (const take of takeRole) await assert.rejects(take, REFUSED);
      await control.changeAccount(BOB.sub, { isAdmin: true, isEnabled: false });
      for (const take of takeRole) await assert.rejects(take, REFUSED, 'the other one is disabled');
      assert.deepEqual(await control.accountBySub(ADA.sub), ADMIN);
      await control.changeAccount(BOB.sub, { isEnabled: true });
      assert.equal(await control.changeAccount(ADA.sub, { isAdmin: false }), true);
      assert.equal(await control.changeAccount(ADA.sub, { isEnabled: false }), true, 'not an administrator');
      assert.equal(await control.removeAccount(ADA.sub, 7), true);
    });

    test('of two administrators who remove each other at the same time, one stays', async (t) => {
      const control = await open(t);
      await control.addAccount(ADMIN);
      await control.addAccount({ ...BOB, isAdmin: true });
      const removals = await Promise.allSettled([
        control.removeAccount(ADA.sub, 7),
        control.changeAccount(BOB.sub, { isAdmin: false }),
      ]);
      assert.equal(removals.filter(({ status }) => status === 'rejected').length, 1);
      assert.equal((await control.accounts()).filter(({ isAdmin }) => isAdmin).length, 1);
    });

    test('without any administrator, every account can be changed', async (t) => {
      const control = await open(t);
      await control.addAccount(ADA);
      assert.equal(await control.changeAccount(ADA.sub, { isEnabled: false, isAdmin: false }), true);
      assert.equal(await control.removeAccount(ADA.sub, 7), true);
    });
  });
}
