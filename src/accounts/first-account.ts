import { OPERATOR_TIER } from '../core/tier.ts';
import { DAY_SECONDS as DAY } from '../core/time.ts';
import { createAccount } from './manage.ts';
import { randomPassword } from './passwords.ts';
import type { AccountStore } from './store.ts';

export type FirstAccount = { username: string; password: string };

const OPERATOR_USERNAME = 'operator';

/** The password is public, so a demo server listens on loopback only. */
export const DEMO_ACCOUNT: FirstAccount = { username: 'demo@example.com', password: 'demo' };

/** The account of the demo is older than all that it has done. */
export const DEMO_ACCOUNT_DAYS = 240;

/** Creates an account when the store has none, so that somebody can log in. Null when the store has accounts. */
export async function ensureFirstAccount(
  store: AccountStore,
  isDemo: boolean,
  ts: number,
): Promise<FirstAccount | null> {
  if (await hasAccounts(store)) return null;
  const account = isDemo ? DEMO_ACCOUNT : { username: OPERATOR_USERNAME, password: randomPassword() };
  const createdTs = isDemo ? ts - DEMO_ACCOUNT_DAYS * DAY : ts;
  try {
    await createAccount(store, { ...account, tier: OPERATOR_TIER, isAdmin: true }, createdTs);
    return account;
  } catch (error) {
    // Another node that started at the same time may have created it.
    if (await hasAccounts(store)) return null;
    throw error;
  }
}

/** Reads one page: there may be 100,000 accounts, and every start of a server asks. */
async function hasAccounts(store: AccountStore): Promise<boolean> {
  for await (const _page of store.accountPages()) return true;
  return false;
}
