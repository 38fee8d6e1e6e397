import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '../core/errors.ts';
import { bearerToken, tokenInvalid } from './bearer.ts';
import type { Caller } from './caller.ts';
import { readSnapshot, type Snapshot } from './snapshot.ts';
import type { Account, AccountStore } from './store.ts';
import type { Tokens } from './tokens.ts';

/** What a node knows about accounts, tiers and keys: a copy that is at most five seconds behind the store. */
export type Authenticator = {
  /** Who sent this Authorization header. At once for a token seen before; throws `unauthorized`, `forbidden`, `unavailable`. */
  authenticate(authorization: string | undefined): Caller | Promise<Caller>;
  /** To sign with the key that is newest now. */
  tokens(): Promise<Tokens>;
  /** Looks into the store now and not only with the next poll. */
  refresh(): Promise<void>;
  close(): void;
};

export type AuthenticatorOptions = {
  nowMs: () => number;
  issuer: string;
  pollMs?: number;
  sleep?: (ms: number) => Promise<unknown>;
  /** Told of every poll that failed. */
  onFailure?: (error: unknown) => void;
};

/** Disabling, revocation and rotation act within five seconds; whoever cannot be sure of that does not answer. */
const TRUST_MS = 5_000;
const POLL_MS = 1_000;
/** How long a request waits for a store that was away. */
const PATIENCE_MS = 1_000;
/** Bad tokens make us look into the store at most this often. */
const RECHECK_MS = 100;

export async function openAuthenticator(control: AccountStore, options: AuthenticatorOptions): Promise<Authenticator> {
  const { nowMs, issuer, pollMs = POLL_MS, sleep = waitUnref, onFailure = () => {} } = options;
  let confirmedMs = nowMs();
  let snapshot = await readSnapshot(control, await control.version(), issuer);
  let refreshing: Promise<void> | null = null;

  /** One at a time, however many ask. */
  function refresh(): Promise<void> {
    refreshing ??= reread().finally(() => {
      refreshing = null;
    });
    return refreshing;
  }

  async function reread(): Promise<void> {
    const askedMs = nowMs();
    const version = await control.version();
    if (version !== snapshot.version) snapshot = await readSnapshot(control, version, issuer);
    confirmedMs = askedMs;
  }

  /** A clock that was set back is no confirmation either. */
  const isConfirmed = (now: number): boolean => Math.abs(now - confirmedMs) <= TRUST_MS;

  /** After a pause of the whole process only a look is missing; a store that is away gets no more than our patience. */
  async function confirmed(): Promise<Snapshot> {
    if (isConfirmed(nowMs())) return snapshot;
    await Promise.race([refresh().catch(onFailure), sleep(PATIENCE_MS)]);
    if (isConfirmed(nowMs())) return snapshot;
    throw new AppError('unavailable', 'The state of accounts could not be confirmed for more than 5 s');
  }

  async function admit(token: string): Promise<Caller> {
    const snapshot = await confirmed();
    const caller = (await callerOf(token, snapshot, nowMs())) ?? (await admitByNews(token, snapshot));
    if (caller === null) throw tokenInvalid();
    return caller;
  }

  /** A token from another node may be newer than our copy: made after a new password, or by a key just added. */
  async function admitByNews(token: string, seen: Snapshot): Promise<Caller | null> {
    if (nowMs() - confirmedMs >= RECHECK_MS) await refresh().catch(onFailure);
    return snapshot === seen ? null : callerOf(token, snapshot, nowMs());
  }

  const timer = setInterval(() => void refresh().catch(onFailure), pollMs).unref();
  return {
    authenticate(authorization) {
      const now = nowMs();
      const known = isConfirmed(now) ? snapshot.verified.callerOf(authorization, now) : null;
      return known ?? admit(bearerToken(authorization));
    },
    async tokens() {
      await refresh();
      return snapshot.tokens;
    },
    refresh,
    close: () => clearInterval(timer),
  };
}

/** Null when the token is not, or no longer, one of an account of ours. */
async function callerOf(token: string, snapshot: Snapshot, nowMs: number): Promise<Caller | null> {
  const claims = snapshot.tokens.verify(token, Math.floor(nowMs / 1000));
  const account = claims && (await snapshot.account(claims.sub));
  if (claims === null || account === null || account.generation !== claims.ver) return null;
  const caller = permitted(account, snapshot);
  snapshot.verified.keep(token, caller, claims.exp * 1000);
  return caller;
}

function permitted(account: Account, snapshot: Snapshot): Caller {
  if (!account.isEnabled) throw new AppError('forbidden', 'The account is disabled; ask the operator');
  const limits = snapshot.limits(account.tier);
  if (limits === null) throw new AppError('forbidden', 'The tier of the account no longer exists; ask the operator');
  return { account, limits };
}

/** Does not keep the process from ending. */
function waitUnref(ms: number): Promise<void> {
  return wait(ms, undefined, { ref: false });
}
