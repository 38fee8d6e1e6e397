import { randomInt } from 'node:crypto';
import { AppError, badRequest } from '../core/errors.ts';
import { hashPassword } from './passwords.ts';
import type { Account, AccountChange, AccountStore } from './store.ts';
import { requireTier } from './tiers.ts';

// Operators' changes of accounts. Running servers apply a change within five seconds.

type NewAccount = { username: string; tier: string; password: string; isAdmin?: boolean };

const USERNAME_MAX_LENGTH = 254;

/**
 * The form in which usernames are compared: `Ada@Example` and `ada@example` are the same account, also in full-width
 * letters. It need not be a valid e-mail address: some real usernames have no top-level domain. Null when the text is
 * not a valid username.
 */
export function usernameKey(username: string): string | null {
  if (username === '' || username.length > USERNAME_MAX_LENGTH) return null;
  // A PostgreSQL text cannot contain these.
  if (!username.isWellFormed() || username.includes('\0')) return null;
  return username.normalize('NFKC').toLowerCase();
}

/** Control characters, line breaks, and marks that are not shown, such as a zero-width space. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** Of new accounts only: a name that looks like another one, or like none. Older accounts may have such a name. */
function refuseConfusing(username: string): void {
  const name = JSON.stringify(username);
  if (username.trim() !== username) {
    throw badRequest(`The username ${name} begins or ends with white space: remove it.`);
  }
  if (INVISIBLE.test(username)) {
    throw badRequest(`The username ${name} has characters that are not shown: remove them.`);
  }
}

/** There are 90 million subscription numbers (`sub`): a collision is rare, and two in a row are not expected. */
const SUB_ATTEMPTS = 20;

/** `drawSub` returns a random sub; tests pass their own. */
export async function createAccount(
  store: AccountStore,
  { username, tier, password, isAdmin = false }: NewAccount,
  ts: number,
  drawSub: () => string = randomSub,
): Promise<Account> {
  const key = await checkNewAccount(store, username, tier);
  const passwordHash = await hashPassword(password);
  for (let attempt = 0; attempt < SUB_ATTEMPTS; attempt++) {
    const account: Account = {
      sub: drawSub(),
      username,
      usernameKey: key,
      passwordHash,
      tier,
      isEnabled: true,
      isAdmin,
      generation: 1,
      createdTs: ts,
    };
    if (await store.addAccount(account)) return account;
    await checkUsernameFree(store, key);
  }
  throw new AppError('unavailable', 'No free subscription number was found: try again');
}

/** Checks username and tier before a password is needed. Returns the key of the username. */
export async function checkNewAccount(store: AccountStore, username: string, tier: string): Promise<string> {
  const key = requireUsernameKey(username);
  refuseConfusing(username);
  await requireTier(store, tier);
  await checkUsernameFree(store, key);
  return key;
}

export async function requireAccount(
  store: Pick<AccountStore, 'accountByUsername'>,
  username: string,
): Promise<Account> {
  const account = await store.accountByUsername(requireUsernameKey(username));
  if (account !== null) return account;
  throw new AppError(
    'not_found',
    `There is no account ${JSON.stringify(username)}: see urlwarden account list, or add it with urlwarden account add.`,
  );
}

/**
 * All in one change, so that a refusal changes nothing. The store refuses to leave no enabled administrator. Tokens that have
 * not expired are valid again when the account is enabled again.
 */
export async function setAccount(
  store: AccountStore,
  username: string,
  change: Pick<AccountChange, 'tier' | 'isEnabled' | 'isAdmin'>,
): Promise<void> {
  const { sub } = await requireAccount(store, username);
  if (change.tier !== undefined) await requireTier(store, change.tier);
  await requireChanged(username, store.changeAccount(sub, change));
}

/** Revokes all tokens of the account. */
export async function changePassword(store: AccountStore, username: string, password: string): Promise<void> {
  const { sub } = await requireAccount(store, username);
  const passwordHash = await hashPassword(password);
  await requireChanged(username, store.changeAccount(sub, { passwordHash, raisesGeneration: true }));
}

/** Revokes all tokens of the account; its password stays. */
export async function revokeTokens(store: AccountStore, username: string): Promise<void> {
  const { sub } = await requireAccount(store, username);
  await requireChanged(username, store.changeAccount(sub, { raisesGeneration: true }));
}

/** Its usage stays under its sub, until it was reported (`limits/store.ts`). */
export async function removeAccount(store: AccountStore, username: string, ts: number): Promise<void> {
  const { sub } = await requireAccount(store, username);
  await requireChanged(username, store.removeAccount(sub, ts));
}

/** Eight digits without a leading zero: some clients parse it as an integer. */
function randomSub(): string {
  return `${randomInt(10_000_000, 100_000_000)}`;
}

function requireUsernameKey(username: string): string {
  const key = usernameKey(username);
  if (key !== null) return key;
  throw badRequest(`A username has 1 to ${USERNAME_MAX_LENGTH} characters: choose another one.`);
}

async function checkUsernameFree(store: AccountStore, key: string): Promise<void> {
  const account = await store.accountByUsername(key);
  if (account === null) return;
  const name = JSON.stringify(account.username);
  throw badRequest(`The account ${name} already exists: choose another username, or change that account.`);
}

/** Another process may have removed the account since it was read. */
async function requireChanged(username: string, change: Promise<boolean>): Promise<void> {
  if (await change) return;
  throw new AppError(
    'not_found',
    `The account ${JSON.stringify(username)} was removed by another process in the meantime.`,
  );
}
