import { BUILT_IN_TIERS, type Limits, limitsOf } from '../core/tier.ts';
import type { Account, Control } from '../store/control.ts';
import { setBounded } from './set-bounded.ts';
import { createTokens, type Tokens } from './tokens.ts';
import { createVerifiedHeaders, type VerifiedHeaders } from './verified-headers.ts';

/** A copy of accounts, tiers and keys as they were at a version. It is never changed, only replaced. */
export type Snapshot = {
  version: number;
  tokens: Tokens;
  limits(tier: string): Limits | null;
  /** Read when first asked for, then kept. */
  account(sub: string): Promise<Account | null>;
  /** Headers whose token was found good, so that the next request with one of them costs a look into a Map. */
  verified: VerifiedHeaders;
};

/** At half a kilobyte each 5 MB; whoever falls out is read again. */
const MAX_ACCOUNTS = 10_000;

/** The version was read before the rest: what is read here may be newer than it says, never older. */
export async function readSnapshot(control: Control, version: number, issuer: string): Promise<Snapshot> {
  const [keys, tiers] = await Promise.all([control.keys(), control.tiers()]);
  const limits = new Map([...BUILT_IN_TIERS, ...tiers].map((tier) => [tier.name, limitsOf(tier)]));
  return {
    version,
    tokens: createTokens(keys, issuer),
    limits: (tier) => limits.get(tier) ?? null,
    account: createAccountReader(control),
    verified: createVerifiedHeaders(),
  };
}

/** Keeps the promises, so that a hundred requests that come at once read their account once. */
function createAccountReader(control: Control): (sub: string) => Promise<Account | null> {
  const accounts = new Map<string, Promise<Account | null>>();
  return (sub) => {
    const known = accounts.get(sub);
    if (known !== undefined) return known;
    const account = control.accountBySub(sub);
    setBounded(accounts, sub, account, MAX_ACCOUNTS);
    account.catch(() => accounts.delete(sub));
    return account;
  };
}
