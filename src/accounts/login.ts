import { hash, randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '../core/errors.ts';
import { createExpiringMap } from '../core/expiring-map.ts';
import { timeText, toTs } from '../core/time.ts';
import type { Authenticator } from './authenticator.ts';
import { loginFailed } from './bearer.ts';
import { createHashQueue } from './hash-queue.ts';
import { addressKey, createLoginFailures, type LoginFailures, type Origin } from './login-failures.ts';
import { createLoginPenalty, type LoginPenalty } from './login-penalty.ts';
import { usernameKey } from './manage.ts';
import { DUMMY_HASH, isUsablePassword, verifyPassword } from './passwords.ts';
import type { Account, AccountStore } from './store.ts';

export type Credentials = {
  username: string;
  password: string;
  /** The IP address of the client. */
  address: string;
  /** Another one than the API's, the default, is refused like a wrong password. */
  realm?: string;
};

type IssuedToken = { token: string; expires: number };

/**
 * One per login. `penalized`: the password was right, but the account logs in too often (delayed or refused).
 * `limited`: too many failed logins before. `busy`: the queue for hashes was full.
 */
export type LoginOutcome = 'ok' | 'penalized' | 'failed' | 'limited' | 'busy';

export type PasswordCheckOptions = {
  store: AccountStore;
  nowMs: () => number;
  sleep?: (ms: number) => Promise<unknown>;
  cores?: number;
  /** The default is `verifyPassword`; the server verifies on another thread. */
  verify?: (password: string, hash: string) => Promise<boolean>;
  /** The defaults count in the memory of this process. */
  failures?: LoginFailures;
  penalty?: LoginPenalty;
  onOutcome?: (outcome: LoginOutcome) => void;
};

/**
 * The enabled account of these credentials, for a login with a token or a session. Throws `unauthorized`,
 * `limit_reached`, `overloaded` or `unavailable`.
 */
export type CheckPassword = (credentials: Credentials) => Promise<Account>;

/** Throws as `CheckPassword`. */
export type Login = (credentials: Required<Credentials>) => Promise<IssuedToken>;

const TOKEN_LIFE_SECONDS = 86_400;

const REALM = 'intel';
/** Hashed in place of a password of invalid length, so that the response takes as long as for any other. */
const PLACEHOLDER_PASSWORD = 'x';
const BUSY_RETRY_SECONDS = 2;

/** Long enough for a customer who renews a token once a month. A digest and a number each: at most 20 MB. */
const KNOWN_LIFE_MS = 30 * 86_400_000;
const MAX_KNOWN = 100_000;

/** Every login of the process must use the same one: it counts failures, and limits concurrent hashes. */
export function createPasswordCheck(options: PasswordCheckOptions): CheckPassword {
  const { nowMs, sleep = wait, cores = availableParallelism(), onOutcome = () => {} } = options;
  const { failures = createLoginFailures(), penalty = createLoginPenalty() } = options;
  const hashQueue = createHashQueue(cores);
  const knownPairs = createExpiringMap<true>({ maxEntries: MAX_KNOWN, lifeMs: KNOWN_LIFE_MS });

  function originOf(user: string, address: string): Origin {
    const pair = pairKey(user, address);
    return { address, pair, isKnown: knownPairs.get(pair, nowMs()) !== undefined };
  }

  function reject(outcome: LoginOutcome, error: AppError): never {
    onOutcome(outcome);
    throw error;
  }

  async function checkFailures(origin: Origin): Promise<void> {
    const waitMs = await failures.waitMs(origin, nowMs());
    if (waitMs > 0) reject('limited', limitReached('Too many failed logins', waitMs, nowMs()));
  }

  function checkPenalty(refusedMs: number): void {
    if (refusedMs > 0)
      reject('penalized', limitReached('Too many logins; keep your token until it expires', refusedMs, nowMs()));
  }

  async function verifyInQueue(origin: Origin, user: string, credentials: Credentials): Promise<Account | null> {
    // Known users behind one address can wait at the same time; of other logins, one per address waits.
    const queued = { key: origin.isKnown ? origin.pair : origin.address, isKnown: origin.isKnown };
    const verified = hashQueue.run(queued, () => verifyCredentials(options, user, credentials));
    if (verified !== null) return verified;
    const retry = { retryAfterSeconds: BUSY_RETRY_SECONDS };
    return reject('busy', new AppError('overloaded', 'Too many logins at the same time; try again later', retry));
  }

  return async (credentials) => {
    const user = usernameKey(credentials.username) ?? '';
    const origin = originOf(user, addressKey(credentials.address));
    await checkFailures(origin);
    // Other origins must send the right password first: this refusal would reveal which accounts log in often.
    if (origin.isKnown) checkPenalty(await penalty.refusedMs(user, nowMs()));

    const account = await verifyInQueue(origin, user, credentials);
    if (account === null) {
      await failures.count(origin, nowMs());
      return reject('failed', loginFailed());
    }
    await failures.clearPair(origin);
    knownPairs.set(origin.pair, true, nowMs());
    const { refusedMs, delayMs } = await penalty.take(user, nowMs());
    checkPenalty(refusedMs);
    if (delayMs > 0) await sleep(delayMs);
    onOutcome(delayMs > 0 ? 'penalized' : 'ok');
    return account;
  };
}

/** Null unless everything is right. Whatever is wrong, the work is the same: one read of the store and one hash. */
async function verifyCredentials(
  { store, verify = verifyPassword }: PasswordCheckOptions,
  user: string,
  { password, realm = REALM }: Credentials,
): Promise<Account | null> {
  const account = await store.accountByUsername(user);
  const isUsable = isUsablePassword(password);
  const isMatch = await verify(isUsable ? password : PLACEHOLDER_PASSWORD, account?.passwordHash ?? DUMMY_HASH);
  return isMatch && isUsable && realm === REALM && account?.isEnabled ? account : null;
}

export type LoginOptions = {
  checkPassword: CheckPassword;
  authenticator: Authenticator;
  nowMs: () => number;
  tokenLifeSeconds?: number;
};

export function createLogin(options: LoginOptions): Login {
  const { checkPassword, authenticator, nowMs, tokenLifeSeconds = TOKEN_LIFE_SECONDS } = options;
  return async (credentials) => {
    const { sub, username: usr, generation: ver } = await checkPassword(credentials);
    const tokens = await authenticator.tokens();
    const iat = toTs(nowMs());
    const expires = iat + tokenLifeSeconds;
    return { token: tokens.sign({ iat, exp: expires, sub, usr, ver, jti: randomUUID() }), expires };
  };
}

/** A digest: a folded username may be 18 times as long, and memory dumps must not contain usernames. */
function pairKey(user: string, address: string): string {
  return hash('sha256', `${address} ${user}`, 'base64url');
}

function limitReached(reason: string, waitMs: number, nowMs: number): AppError {
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  const message = `${reason}; try again in ${retryAfterSeconds} s, at ${timeText(toTs(nowMs) + retryAfterSeconds)}`;
  return new AppError('limit_reached', message, { retryAfterSeconds });
}
