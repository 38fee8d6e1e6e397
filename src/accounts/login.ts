import { hash, randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '../core/errors.ts';
import type { Authenticator } from './authenticator.ts';
import { loginFailed } from './bearer.ts';
import { createExpiringMap } from './expiring-map.ts';
import { createHashQueue } from './hash-queue.ts';
import { addressKey, createLoginFailures, type LoginFailures, type Origin } from './login-failures.ts';
import { createLoginPenalty, type LoginPenalty } from './login-penalty.ts';
import { DUMMY_HASH, isUsablePassword, verifyPassword } from './passwords.ts';
import type { Account, AccountStore } from './store.ts';
import { usernameKey } from './username.ts';

export type LoginRequest = {
  username: string;
  password: string;
  realm: string;
  /** Where the request comes from, as text. */
  address: string;
};

export type IssuedToken = { token: string; expires: number };

/**
 * One for every login: `penalized` was right but too often (delayed or refused), `limited` had failed too often before,
 * `busy` found no room to be judged.
 */
export type LoginOutcome = 'ok' | 'penalized' | 'failed' | 'limited' | 'busy';

export type LoginOptions = {
  control: AccountStore;
  authenticator: Authenticator;
  nowMs: () => number;
  sleep?: (ms: number) => Promise<unknown>;
  cores?: number;
  /** Judges a password; on another thread than lookups. */
  verify?: (password: string, hash: string) => Promise<boolean>;
  tokenLifeSeconds?: number;
  /** In place of those of this process. */
  failures?: LoginFailures;
  penalty?: LoginPenalty;
  onOutcome?: (outcome: LoginOutcome) => void;
};

/** Throws `unauthorized`, `limit_reached`, `overloaded` or `unavailable`. */
export type Login = (request: LoginRequest) => Promise<IssuedToken>;

export const TOKEN_LIFE_SECONDS = 86_400;

const REALM = 'intel';
/** Judged in place of a password that cannot be one, so that it takes as long as any other. */
const STAND_IN_PASSWORD = 'x';
const BUSY_RETRY_SECONDS = 2;

/** A customer who renews a token a month later still goes first. A digest and a number each: not more than 20 MB. */
const KNOWN_LIFE_MS = 30 * 86_400_000;
const MAX_KNOWN = 100_000;

export function createLogin(options: LoginOptions): Login {
  const { nowMs, sleep = wait, cores = availableParallelism(), onOutcome = () => {} } = options;
  const { failures = createLoginFailures(), penalty = createLoginPenalty() } = options;
  const queue = createHashQueue(cores);
  const known = createExpiringMap<true>({ maxEntries: MAX_KNOWN, lifeMs: KNOWN_LIFE_MS });

  function originOf(user: string, address: string): Origin {
    const pair = pairKey(user, address);
    return { address, pair, isKnown: known.get(pair, nowMs()) !== undefined };
  }

  function refuse(outcome: LoginOutcome, error: AppError): never {
    onOutcome(outcome);
    throw error;
  }

  async function refuseIfLimited(origin: Origin): Promise<void> {
    const waitMs = await failures.waitMs(origin, nowMs());
    if (waitMs > 0) refuse('limited', limitReached('Too many failed logins', waitMs));
  }

  function refuseIfPenalized(waitMs: number): void {
    if (waitMs > 0) refuse('penalized', limitReached('Too many logins; keep your token until it expires', waitMs));
  }

  async function judgeInTurn(origin: Origin, user: string, request: LoginRequest): Promise<Account | null> {
    // Colleagues behind one address do not stand in each other's way once they are known.
    const visitor = { key: origin.isKnown ? origin.pair : origin.address, isKnown: origin.isKnown };
    const judged = queue.run(visitor, () => judge(options, user, request));
    if (judged !== null) return judged;
    const later = { retryAfterSeconds: BUSY_RETRY_SECONDS };
    return refuse('busy', new AppError('overloaded', 'Too many logins at the same time; try again later', later));
  }

  return async (request) => {
    const user = usernameKey(request.username) ?? '';
    const origin = originOf(user, addressKey(request.address));
    await refuseIfLimited(origin);
    // Who is not known has to show the password first, or this would tell which accounts are busy.
    if (origin.isKnown) refuseIfPenalized(await penalty.refusedMs(user, nowMs()));

    const account = await judgeInTurn(origin, user, request);
    if (account === null) {
      await failures.count(origin, nowMs());
      return refuse('failed', loginFailed());
    }
    await failures.forgive(origin);
    known.set(origin.pair, true, nowMs());
    const { refusedMs, delayMs } = await penalty.take(user, nowMs());
    refuseIfPenalized(refusedMs);
    if (delayMs > 0) await sleep(delayMs);
    const issued = await issue(account, options);
    onOutcome(delayMs > 0 ? 'penalized' : 'ok');
    return issued;
  };
}

/** The same work whatever is wrong: one look into the store and one hash. Null unless everything is right. */
async function judge(options: LoginOptions, user: string, { password, realm }: LoginRequest): Promise<Account | null> {
  const { control, verify = verifyPassword } = options;
  const account = await control.accountByUsername(user);
  const isUsable = isUsablePassword(password);
  const isMatch = await verify(isUsable ? password : STAND_IN_PASSWORD, account?.passwordHash ?? DUMMY_HASH);
  return isMatch && isUsable && realm === REALM && account?.isEnabled ? account : null;
}

async function issue(account: Account, options: LoginOptions): Promise<IssuedToken> {
  const { authenticator, nowMs, tokenLifeSeconds = TOKEN_LIFE_SECONDS } = options;
  const tokens = await authenticator.tokens();
  const iat = Math.floor(nowMs() / 1000);
  const expires = iat + tokenLifeSeconds;
  const { sub, username: usr, generation: ver } = account;
  return { token: tokens.sign({ iat, exp: expires, sub, usr, ver, jti: randomUUID() }), expires };
}

/** A digest, because a username may be 18 times as long once it is folded, and because memory dumps tell no names. */
function pairKey(user: string, address: string): string {
  return hash('sha256', `${address} ${user}`, 'base64url');
}

function limitReached(message: string, waitMs: number): AppError {
  return new AppError('limit_reached', message, { retryAfterSeconds: Math.ceil(waitMs / 1000) });
}
