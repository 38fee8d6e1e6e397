import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allTiers, removeTier, requireTier, setTier } from '../../src/accounts/tiers.ts';
import { ADA, GOLD } from '../app/control-records.ts';
import { temporaryControl } from '../temporary-control.ts';

test('built-in tiers and tiers of the operator are listed and found', async (t) => {
  const control = await temporaryControl(t);
  await setTier(control, GOLD);
  const names = (await allTiers(control)).map(({ name }) => name);
  assert.deepEqual(names, ['developer', 'standard', 'enterprise', 'operator', 'gold']);
  assert.deepEqual(await requireTier(control, 'gold'), GOLD);
  assert.equal((await requireTier(control, 'standard')).qmh, 150_000);
});

test('a built-in tier cannot be set or removed, in any letter case', async (t) => {
  const control = await temporaryControl(t);
  for (const name of ['standard', 'Operator']) {
    await assert.rejects(setTier(control, { ...GOLD, name }), { code: 'bad_request', message: /built in/ });
    await assert.rejects(removeTier(control, name), { code: 'bad_request', message: /built in/ });
  }
});

test('tier names that would need quotes are refused', async (t) => {
  const control = await temporaryControl(t);
  for (const name of ['', '-x', 'a b', 'a,b', 'x'.repeat(65), 'é']) {
    await assert.rejects(setTier(control, { ...GOLD, name }), {
      code: 'bad_request',
      message: /not a valid tier name/,
    });
  }
  await setTier(control, { ...GOLD, name: 'Big.2026_a-b' });
});

test('unknown datasets are refused; a tier that was stored with them can be read and replaced', async (t) => {
  const control = await temporaryControl(t);
  const stored = { ...GOLD, ads: ['url', 'IP'] };
  await assert.rejects(setTier(control, stored), { code: 'bad_request', message: /"ads" must be some of URL, / });
  await control.putTier(stored);
  assert.deepEqual(await requireTier(control, 'gold'), stored);
  await setTier(control, GOLD);
  assert.deepEqual(await requireTier(control, 'gold'), GOLD);
});

test('a soft limit above the hard limit is refused, unless it is none', async (t) => {
  const control = await temporaryControl(t);
  const message = /^"qms" must be at most the hard limit \(qmh\), 20, or 2147483647/;
  await assert.rejects(setTier(control, { ...GOLD, qms: 21, qmh: 20 }), { code: 'bad_request', message });
  for (const qms of [20, 2_147_483_647]) await setTier(control, { ...GOLD, qms, qmh: 20 });
});

test('a tier in use is not removed, and the error lists its accounts', async (t) => {
  const control = await temporaryControl(t);
  await setTier(control, GOLD);
  for (let i = 0; i < 7; i++) {
    await control.addAccount({ ...ADA, sub: `${i}`, username: `u${i}`, usernameKey: `u${i}`, tier: 'gold' });
  }
  await assert.rejects(removeTier(control, 'gold'), { code: 'bad_request', message: /"u0", .*"u4" and 2 more/ });
  for (let i = 0; i < 7; i++) await control.removeAccount(`${i}`, 1);
  await removeTier(control, 'gold');
  await assert.rejects(removeTier(control, 'gold'), { code: 'not_found', message: /no tier "gold"/ });
});
