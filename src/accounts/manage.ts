import { randomInt } from 'node:crypto';
import { AppError } from '../core/errors.ts';
import type { Tier } from '../core/tier.ts';
import { hashPassword } from './passwords.ts';
import type { Account, AccountStore } from './store.ts';
import { requireTier } from './tiers.ts';
import { USERNAME_MAX_LENGTH, usernameKey } from './username.ts';

// What an operator does with accounts. Running servers go by a change within seconds.

export type NewAccount = { username: string; tier: string; password: string };

/** Of 90 million subs, a clash is rare and a second one in a row is not to be expected. */
const SUB_ATTEMPTS = 20;

/** `drawSub` is the source of randomness. */
export async function createAccount(
  control: AccountStore,
  { username, tier, password }: NewAccount,
  ts: number,
  drawSub: () => string = randomSub,
): Promise<Account> {
  const key = await checkNewAccount(control, username, tier);
  const passwordHash = await hashPassword(password);
  for (let attempt = 0; attempt < SUB_ATTEMPTS; attempt++) {
    const account: Account = {
      sub: drawSub(),
      username,
      usernameKey: key,
      passwordHash,
      tier,
      isEnabled: true,
      generation: 1,
      createdTs: ts,
    };
    if (await control.addAccount(account)) return account;
    await refuseTaken(control, key);
  }
  throw new AppError('unavailable', 'No free account number was found: try again');
}

/** What can be said against a new account before its password is known; gives the key of its username. */
export async function checkNewAccount(control: AccountStore, username: string, tier: string): Promise<string> {
  const key = keyOf(username);
  await requireTier(control, tier);
  await refuseTaken(control, key);
  return key;
}

export async function requireAccount(control: AccountStore, username: string): Promise<Account> {
  const account = await control.accountByUsername(keyOf(username));
  if (account !== null) return account;
  throw new AppError(
    'not_found',
    `There is no account ${JSON.stringify(username)}: see urlwarden account list, or add it with urlwarden account add.`,
  );
}

export async function setAccountTier(control: AccountStore, username: string, tierName: string): Promise<Tier> {
  const { sub } = await requireAccount(control, username);
  const tier = await requireTier(control, tierName);
  await requireDone(username, control.changeAccount(sub, { tier: tier.name }));
  return tier;
}

/** The tokens of a disabled account are good again when it is enabled before they expire. */
export async function setAccountEnabled(control: AccountStore, username: string, isEnabled: boolean): Promise<void> {
  const { sub } = await requireAccount(control, username);
  await requireDone(username, control.changeAccount(sub, { isEnabled }));
}

/** The account's tokens are void from then on. */
export async function changePassword(control: AccountStore, username: string, password: string): Promise<void> {
  const { sub } = await requireAccount(control, username);
  const passwordHash = await hashPassword(password);
  await requireDone(username, control.changeAccount(sub, { passwordHash, raisesGeneration: true }));
}

/** The account's tokens are void from then on; its password stays. */
export async function revokeTokens(control: AccountStore, username: string): Promise<void> {
  const { sub } = await requireAccount(control, username);
  await requireDone(username, control.changeAccount(sub, { raisesGeneration: true }));
}

export async function removeAccount(control: AccountStore, username: string): Promise<void> {
  const { sub } = await requireAccount(control, username);
  await requireDone(username, control.removeAccount(sub));
}

/** Eight digits, the first of them no zero: some clients read the number as an integer. */
function randomSub(): string {
  return `${randomInt(10_000_000, 100_000_000)}`;
}

function keyOf(username: string): string {
  const key = usernameKey(username);
  if (key !== null) return key;
  throw new AppError('bad_request', `A username has 1 to ${USERNAME_MAX_LENGTH} characters: choose another one.`);
}

async function refuseTaken(control: AccountStore, key: string): Promise<void> {
  const account = await control.accountByUsername(key);
  if (account === null) return;
  const name = JSON.stringify(account.username);
  throw new AppError(
    'bad_request',
    `There is an account ${name} already: choose another username, or change that one.`,
  );
}

/** Somebody else may have removed the account since it was looked up. */
async function requireDone(username: string, change: Promise<boolean>): Promise<void> {
  if (await change) return;
  throw new AppError('not_found', `The account ${JSON.stringify(username)} has just been removed by somebody else.`);
}
