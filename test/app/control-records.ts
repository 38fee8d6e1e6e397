import type { Account, SigningKey } from '../../src/accounts/store.ts';
import type { Control } from '../../src/app/stores.ts';
import type { Tier } from '../../src/core/tier.ts';

export const ADA: Account = {
  sub: '10000001',
  username: 'Ada@Example',
  usernameKey: 'ada@example',
  passwordHash: '$hash',
  tier: 'standard',
  isEnabled: true,
  isAdmin: false,
  generation: 1,
  createdTs: 1_700_000_000,
};

export const BOB: Account = { ...ADA, sub: '10000002', username: 'bob', usernameKey: 'bob' };

export const GOLD: Tier = {
  name: 'gold',
  trs: 'base',
  ads: ['URL', 'DROP'],
  qms: 10,
  qmh: 20,
  rlQps: null,
  rlQpm: 7,
  rlQph: null,
};

export function key(kid: string, createdTs: number): SigningKey {
  return { kid, secret: new Uint8Array(32).fill(kid.charCodeAt(0)), createdTs };
}

/** Whether `work` raises the version. */
export async function raisesVersion(control: Control, work: () => Promise<unknown>): Promise<boolean> {
  const before = await control.version();
  await work();
  return (await control.version()) > before;
}
