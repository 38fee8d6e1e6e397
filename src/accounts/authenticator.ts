import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '../core/errors.ts';
import { toTs } from '../core/time.ts';
import { bearerToken, tokenInvalid } from './bearer.ts';
import { type AccountCaller, readSnapshot, type Snapshot } from './snapshot.ts';
import type { Account, AccountStore } from './store.ts';
import type { Tokens } from './tokens.ts';

/**
 * Verifies tokens against a snapshot of accounts, tiers and keys at most five seconds behind the store:
 *
 *     Authorization header → cached: the caller, without further work
 *                          → token → signature and claims (`tokens.ts`) → account → its limits → cached
 */
export type Authenticator = {
  /**
   * The caller who sent this Authorization header; no promise for a cached header. Throws `unauthorized`, `forbidden`
   * or `unavailable`.
   */
  authenticate(authorization: string | undefined): AccountCaller | Promise<AccountCaller>;
  /**
   * The caller whose session was started at this generation of the account; null if the account has another one or does
   * not exist. Throws `forbidden` or `unavailable`.
   */
  callerAt(sub: string, generation: number): Promise<AccountCaller | null>;
  /** The caller of an account, whatever its generation; null if it does not exist. Throws `forbidden` or `unavailable`. */
  callerOf(sub: string): Promise<AccountCaller | null>;
  /** Refreshes first, so that the newest key signs. */
  tokens(): Promise<Tokens>;
  /** Compares the snapshot with the store now instead of with the next poll. */
  refresh(): Promise<void>;
  close(): void;
};

export type AuthenticatorOptions = {
  nowMs: () => number;
  issuer: string;
  pollMs?: number;
  sleep?: (ms: number) => Promise<unknown>;
  /** Called after every poll that failed. */
  onFailure?: (error: unknown) => void;
};

/** Disabling, revocation and rotation take effect within five seconds; an older snapshot is not used. */
const MAX_SNAPSHOT_AGE_MS = 5_000;
const POLL_MS = 1_000;
/** How long a request waits for the store when the snapshot is too old. */
const REFRESH_TIMEOUT_MS = 1_000;
/** Refusals cause a refresh at most this often, in addition to the polls. Those in between wait for the next one. */
const MIN_REFRESH_INTERVAL_MS = 100;

export async function openAuthenticator(store: AccountStore, options: AuthenticatorOptions): Promise<Authenticator> {
  const { nowMs, issuer, pollMs = POLL_MS, sleep = waitUnref, onFailure = () => {} } = options;
  let checkedMs = nowMs();
  let snapshot = await readSnapshot(store, await store.version(), issuer);
  let refreshing: Promise<void> | null = null;
  let refusedMs = Number.NEGATIVE_INFINITY;
  let afterRefusal: Promise<void> | null = null;

  /** Concurrent calls share one refresh. */
  function refresh(): Promise<void> {
    refreshing ??= compareWithStore().finally(() => {
      refreshing = null;
    });
    return refreshing;
  }

  async function compareWithStore(): Promise<void> {
    const startedMs = nowMs();
    const version = await store.version();
    if (version !== snapshot.version) snapshot = await readSnapshot(store, version, issuer);
    checkedMs = startedMs;
  }

  /** The next refresh, not one that is running: it may have read the store before the change. Refusals share it. */
  function refreshAfterRefusal(): Promise<void> {
    afterRefusal ??= waitBeforeRefresh().then(() => {
      afterRefusal = null;
      refusedMs = nowMs();
      return refresh();
    });
    return afterRefusal;
  }

  async function waitBeforeRefresh(): Promise<void> {
    const sinceMs = Math.abs(nowMs() - refusedMs);
    if (sinceMs < MIN_REFRESH_INTERVAL_MS) await sleep(MIN_REFRESH_INTERVAL_MS - sinceMs);
    await refreshing?.catch(() => {}); // reported by whoever started it
  }

  /** The absolute difference, because the clock may have been set back. */
  const isFresh = (now: number): boolean => Math.abs(now - checkedMs) <= MAX_SNAPSHOT_AGE_MS;

  /** Refreshes first when the snapshot is too old: the process was paused, or the polls failed. */
  async function freshSnapshot(): Promise<Snapshot> {
    if (isFresh(nowMs())) return snapshot;
    await Promise.race([refresh().catch(onFailure), sleep(REFRESH_TIMEOUT_MS)]);
    if (isFresh(nowMs())) return snapshot;
    throw new AppError('unavailable', 'The account database has not responded for more than 5 s; try again later');
  }

  async function authenticateToken(token: string): Promise<AccountCaller> {
    const caller = await verifyFresh(
      (current) => verifyToken(token, current, nowMs()),
      ({ tokens }) => tokens.hasUnknownKey(token) || tokens.verify(token, toTs(nowMs())) !== null,
    );
    if (caller === null) throw tokenInvalid();
    return caller;
  }

  /**
   * Verifies again after a refresh if the first result is a refusal: another thread or node may have issued the token, or
   * started the session, after a change that the snapshot does not have: a new password, key or tier. `canChange`: whether
   * the refusal can be the result of such a change. Any other one is immediate, so that garbage does not wait.
   */
  async function verifyFresh(
    verify: (current: Snapshot) => Promise<AccountCaller | null>,
    canChange: (current: Snapshot) => boolean,
  ) {
    const current = await freshSnapshot();
    const first = verify(current);
    const caller = await first.catch(() => null);
    if (caller !== null || !canChange(current)) return first;
    await refreshAfterRefusal().catch(onFailure);
    return snapshot === current ? first : verify(snapshot);
  }

  const timer = setInterval(() => void refresh().catch(onFailure), pollMs).unref();
  return {
    authenticate(authorization) {
      const now = nowMs();
      const cached = isFresh(now) ? snapshot.verifiedHeaders.get(authorization, now) : null;
      return cached ?? authenticateToken(bearerToken(authorization));
    },
    callerAt: (sub, generation) =>
      verifyFresh(
        async (current) => (await findCaller(sub, generation, current))?.caller ?? null,
        () => true,
      ),
    callerOf: async (sub) => {
      const current = await freshSnapshot();
      const { account } = await current.account(sub);
      return account && toCaller(account, current);
    },
    async tokens() {
      await refresh();
      return snapshot.tokens;
    },
    refresh,
    close: () => clearInterval(timer),
  };
}

/** Null when the token is invalid, its account does not exist, or its generation is not the account's. */
async function verifyToken(token: string, snapshot: Snapshot, nowMs: number): Promise<AccountCaller | null> {
  const claims = snapshot.tokens.verify(token, toTs(nowMs));
  if (claims === null) return null;
  const found = await findCaller(claims.sub, claims.ver, snapshot);
  if (found?.isKept) snapshot.verifiedHeaders.add(token, found.caller, claims.exp * 1000);
  return found?.caller ?? null;
}

/** Null when the account does not exist, or has another generation. */
async function findCaller(sub: string, generation: number, snapshot: Snapshot) {
  const { account, isKept } = await snapshot.account(sub);
  if (account === null || account.generation !== generation) return null;
  return { caller: toCaller(account, snapshot), isKept };
}

/** Throws `forbidden` when the account is disabled or its tier does not exist. */
function toCaller(account: Account, snapshot: Snapshot): AccountCaller {
  if (!account.isEnabled) throw new AppError('forbidden', 'The account is disabled; ask the operator');
  const limits = snapshot.limits(account.tier);
  if (limits === null) throw new AppError('forbidden', 'The tier of the account no longer exists; ask the operator');
  return { account, limits };
}

/** Does not keep the process running. */
function waitUnref(ms: number): Promise<void> {
  return wait(ms, undefined, { ref: false });
}
