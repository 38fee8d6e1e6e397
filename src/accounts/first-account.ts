import { randomBytes } from 'node:crypto';
import { OPERATOR_TIER } from '../core/tier.ts';
import { createAccount } from './manage.ts';
import type { AccountStore } from './store.ts';

export type FirstAccount = { username: string; password: string };

export const OPERATOR_USERNAME = 'operator';

/** Known to everyone, which is why a demo answers on loopback only. */
export const DEMO_ACCOUNT: FirstAccount = { username: 'demo@example.com', password: 'demo' };

/** 144 bits: nobody guesses it, and it can still be typed. */
const PASSWORD_BYTES = 18;

/** Nobody can log in to a server without accounts, so the first start makes one; null when there are some. */
export async function ensureFirstAccount(
  control: AccountStore,
  isDemo: boolean,
  ts: number,
): Promise<FirstAccount | null> {
  if ((await control.accounts()).length > 0) return null;
  const account = isDemo ? DEMO_ACCOUNT : { username: OPERATOR_USERNAME, password: randomPassword() };
  try {
    await createAccount(control, { ...account, tier: OPERATOR_TIER }, ts);
    return account;
  } catch (error) {
    // Of nodes that start together on an empty database one is the first.
    if ((await control.accounts()).length > 0) return null;
    throw error;
  }
}

function randomPassword(): string {
  return randomBytes(PASSWORD_BYTES).toString('base64url');
}
