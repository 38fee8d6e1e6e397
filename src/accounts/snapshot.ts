import { BUILT_IN_TIERS, type Limits, limitsOf } from '../core/tier.ts';
import type { Caller } from '../http/endpoint.ts';
import { authorizationOf } from './bearer.ts';
import type { Account, AccountStore } from './store.ts';
import { createTokens, SIGNATURE_LENGTH, type Tokens } from './tokens.ts';

/** The caller as the server needs it, with all fields of the account. */
export type AccountCaller = Caller & { account: Account };

/**
 * Accounts, tiers and keys at one version of the store. A snapshot is never changed, only replaced. It keeps nothing of a
 * later version: after a failover to a standby that lagged, the store may stay at this version.
 */
export type Snapshot = {
  /** NaN if the store was changed while the snapshot was read, so that the next poll replaces it. */
  version: number;
  tokens: Tokens;
  limits(tier: string): Limits | null;
  /** Read from the store once, then cached unless it is of a later version. */
  account(sub: string): Promise<FoundAccount>;
  verifiedHeaders: VerifiedHeaders;
};

/** `isKept`: the account is of the version of the snapshot. */
type FoundAccount = { account: Account | null; isKept: boolean };

/** 5 MB at 0.5 kB each. An account that was evicted is read again. */
const MAX_ACCOUNTS = 10_000;

/** `readVersion` was read before this call, so the snapshot may be newer, never older. */
export async function readSnapshot(store: AccountStore, readVersion: number, issuer: string): Promise<Snapshot> {
  const [keys, tiers] = await Promise.all([store.keys(), store.tiers()]);
  const version = (await store.version()) === readVersion ? readVersion : Number.NaN;
  const limits = new Map([...BUILT_IN_TIERS, ...tiers].map((tier) => [tier.name, limitsOf(tier)]));
  return {
    version,
    tokens: createTokens(keys, issuer),
    limits: (tier) => limits.get(tier) ?? null,
    account: createAccountCache(store, version),
    verifiedHeaders: createVerifiedHeaders(),
  };
}

/** Caches promises, so that 100 concurrent requests of one account cause one read. */
function createAccountCache(store: AccountStore, version: number): Snapshot['account'] {
  const accounts = new Map<string, Promise<FoundAccount>>();
  async function find(sub: string): Promise<FoundAccount> {
    const account = await store.accountBySub(sub);
    return { account, isKept: (await store.version()) === version };
  }
  return (sub) => {
    const cached = accounts.get(sub);
    if (cached !== undefined) return cached;
    const found = find(sub);
    setBounded(accounts, sub, found, MAX_ACCOUNTS);
    const forget = () => accounts.delete(sub);
    found.then(({ isKept }) => isKept || forget(), forget);
    return found;
  };
}

/** A cache of Authorization headers whose token was verified: the next request with one of them costs a Map lookup. */
type VerifiedHeaders = {
  /** Null unless exactly this header is cached and its token has not expired. */
  get(authorization: string | undefined, nowMs: number): AccountCaller | null;
  add(token: string, caller: AccountCaller, expiresMs: number): void;
};

/** 5 MB at 0.5 kB each. A token that was evicted is verified again. */
const MAX_TOKENS = 10_000;

/**
 * The key is the signature, because V8 hashes the key of a lookup: 0.1 µs for its 43 characters, 1 µs for the whole
 * header. Only the usual spelling of the header is cached, so that variants in spaces and letter case cannot fill the
 * memory; a token in another spelling is verified with each request (20 µs).
 */
function createVerifiedHeaders(): VerifiedHeaders {
  const bySignature = new Map<string, { authorization: string; caller: AccountCaller; expiresMs: number }>();
  return {
    get(authorization, nowMs) {
      const entry = authorization && bySignature.get(authorization.slice(-SIGNATURE_LENGTH));
      return entry && entry.authorization === authorization && nowMs < entry.expiresMs ? entry.caller : null;
    },
    add(token, caller, expiresMs) {
      const entry = { authorization: authorizationOf(token), caller, expiresMs };
      setBounded(bySignature, token.slice(-SIGNATURE_LENGTH), entry, MAX_TOKENS);
    },
  };
}

/** Evicts the oldest entry when there are too many: a Map keeps the order of insertion. */
function setBounded<V>(map: Map<string, V>, key: string, value: V, maxEntries: number): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxEntries && oldest !== undefined) map.delete(oldest);
}
