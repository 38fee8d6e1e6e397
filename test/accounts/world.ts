import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { type AuthenticatorOptions, openAuthenticator } from '../../src/accounts/authenticator.ts';
import {
  createLogin,
  createPasswordCheck,
  type LoginOptions,
  type PasswordCheckOptions,
} from '../../src/accounts/login.ts';
import { usernameKey } from '../../src/accounts/manage.ts';
import type { Account } from '../../src/accounts/store.ts';
import { type Control, openControl } from '../../src/app/stores.ts';
import type { AppError } from '../../src/core/errors.ts';
import { DEFAULT_TIER } from '../../src/core/tier.ts';
import { temporaryFolder } from '../temporary-folder.ts';

export const ISSUER = 'urlwarden';
export const START_MS = 1_800_000_000_000;
export const PASSWORD = 'password';

/** A clock that only the test advances. */
export function createClock() {
  let timeMs = START_MS;
  return {
    nowMs: () => timeMs,
    advance(ms: number) {
      timeMs += ms;
    },
  };
}

/** An empty store with one key. */
export async function openWorld(t: TestContext): Promise<Control> {
  const control = await openControl({ dataDir: temporaryFolder(t) });
  t.after(() => control.close());
  await addKey(control, 'first');
  return control;
}

export async function addKey(control: Control, kid: string, keepSince = 0): Promise<void> {
  await control.addKey({ kid, secret: randomBytes(32), createdTs: START_MS / 1000 }, keepSince);
}

/** An authenticator that does not poll unless `options.pollMs` is given. */
export async function authenticatorOf(t: TestContext, control: Control, options: Partial<AuthenticatorOptions> = {}) {
  const authenticator = await openAuthenticator(control, {
    nowMs: () => START_MS,
    issuer: ISSUER,
    pollMs: 2_147_483_647,
    ...options,
  });
  t.after(() => authenticator.close());
  return authenticator;
}

export type WholeLoginOptions = PasswordCheckOptions & Omit<LoginOptions, 'checkPassword'>;

/** A login with a password check of its own. */
export const loginOf = (options: WholeLoginOptions) =>
  createLogin({ ...options, checkPassword: createPasswordCheck(options) });

/** A hash of `PASSWORD` with a low cost, so that tests with many logins stay fast. */
const QUICK_HASH = '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4';

export async function addAccount(control: Control, options: Partial<Account> = {}): Promise<Account> {
  const { username = 'ada@example' } = options;
  const account = {
    sub: '00000001',
    username,
    usernameKey: usernameKey(username) ?? '',
    passwordHash: QUICK_HASH,
    tier: DEFAULT_TIER,
    isEnabled: true,
    isAdmin: false,
    generation: 1,
    createdTs: START_MS / 1000,
    ...options,
  };
  assert.ok(await control.addAccount(account));
  return account;
}

/** A predicate for `assert.rejects`. */
export function refusal(code: AppError['code'], expected: Partial<AppError> = {}) {
  return (error: AppError): boolean =>
    error.code === code && Object.entries(expected).every(([key, value]) => error[key as keyof AppError] === value);
}
