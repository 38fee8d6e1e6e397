import { BUILT_IN_TIERS, type Limits, limitsOf } from '../core/tier.ts';
import { authorizationOf } from './bearer.ts';
import type { Caller } from './caller.ts';
import type { Account, AccountStore } from './store.ts';
import { createTokens, SIGNATURE_LENGTH, type Tokens } from './tokens.ts';

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
export async function readSnapshot(control: AccountStore, version: number, issuer: string): Promise<Snapshot> {
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
function createAccountReader(control: AccountStore): (sub: string) => Promise<Account | null> {
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

export type VerifiedHeaders = {
  /** Null unless exactly this header was kept and its token has not expired. */
  callerOf(authorization: string | undefined, nowMs: number): Caller | null;
  keep(token: string, caller: Caller, expiresMs: number): void;
};

/** At half a kilobyte each 5 MB; a token that falls out is verified again. */
const MAX_TOKENS = 10_000;

/**
 * Found by the signature, because V8 has to hash what it looks up: 0.1 µs for its 43 characters, 1 µs for the whole
 * header. Kept in the usual spelling only, so that spaces and letter case cannot fill the memory; a client with another
 * one has its token verified each time (20 µs).
 */
export function createVerifiedHeaders(): VerifiedHeaders {
  const bySignature = new Map<string, { authorization: string; caller: Caller; expiresMs: number }>();
  return {
    callerOf(authorization, nowMs) {
      const entry = authorization && bySignature.get(authorization.slice(-SIGNATURE_LENGTH));
      return entry && entry.authorization === authorization && nowMs < entry.expiresMs ? entry.caller : null;
    },
    keep(token, caller, expiresMs) {
      const entry = { authorization: authorizationOf(token), caller, expiresMs };
      setBounded(bySignature, token.slice(-SIGNATURE_LENGTH), entry, MAX_TOKENS);
    },
  };
}

/** A Map keeps the order of insertion: when there is one entry too many, the first is the oldest. */
export function setBounded<V>(map: Map<string, V>, key: string, value: V, maxEntries: number): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxEntries && oldest !== undefined) map.delete(oldest);
}
