import { AppError, badRequest } from '../core/errors.ts';
import { BUILT_IN_TIERS, type Tier } from '../core/tier.ts';
import { pageOf } from '../database/pages.ts';
import type { Account, AccountChange, RemovedAccount, Session, SigningKey } from './store.ts';

// Rows of accounts, tiers, keys and sessions, the same on both engines. Booleans are 1 and 0.

export type AccountRow = [
  sub: string,
  username: string,
  usernameKey: string,
  passwordHash: string,
  tier: string,
  isEnabled: number,
  generation: number,
  createdTs: number,
  isAdmin: number,
];

export const ACCOUNT_COLUMNS =
  'sub, username, username_key, password_hash, tier, is_enabled, generation, created_ts, is_admin';

export function toAccount(row: AccountRow): Account {
  const [sub, username, usernameKey, passwordHash, tier, isEnabled, generation, createdTs, isAdmin] = row;
  const flags = { isEnabled: isEnabled === 1, isAdmin: isAdmin === 1 };
  return { sub, username, usernameKey, passwordHash, tier, ...flags, generation, createdTs };
}

export function toAccountRow(account: Account): AccountRow {
  const { sub, username, usernameKey, passwordHash, tier, isEnabled, isAdmin, generation, createdTs } = account;
  return [sub, username, usernameKey, passwordHash, tier, Number(isEnabled), generation, createdTs, Number(isAdmin)];
}

/** For `readPages`, by the key of the username. */
export const accountPage = (rows: AccountRow[]) => pageOf(rows, toAccount, ([, , usernameKey]) => usernameKey);

/** Null does not change a column. */
export function toChangeRow({ tier, isEnabled, isAdmin, passwordHash, raisesGeneration }: AccountChange) {
  return {
    tier: tier ?? null,
    isEnabled: isEnabled === undefined ? null : Number(isEnabled),
    isAdmin: isAdmin === undefined ? null : Number(isAdmin),
    passwordHash: passwordHash ?? null,
    raise: Number(raisesGeneration ?? false),
  };
}

/** Whether it can take the role of an administrator from an account. */
export function mayEndAdministrator({ isEnabled, isAdmin }: AccountChange): boolean {
  return isEnabled === false || isAdmin === false;
}

export function lastAdministrator(): AppError {
  return badRequest(
    'This is the last enabled administrator: make another account one first (urlwarden account set USERNAME --admin yes).',
  );
}

export type RemovedAccountRow = [sub: string, tier: string, qms: number | null, qmh: number | null, removedTs: number];

export const REMOVED_ACCOUNT_COLUMNS = 'sub, tier, qms, qmh, removed_ts';

export function toRemovedAccount([sub, tier, qms, qmh, removedTs]: RemovedAccountRow): RemovedAccount {
  return { sub, tier, limits: qms === null || qmh === null ? null : { qms, qmh }, removedTs };
}

/** `tier` is undefined if the tier of the account does not exist. */
export function toRemovedAccountRow(account: Account, tier: Tier | undefined, removedTs: number): RemovedAccountRow {
  return [account.sub, account.tier, tier?.qms ?? null, tier?.qmh ?? null, removedTs];
}

export type TierRow = [
  name: string,
  trs: string,
  ads: string,
  qms: number,
  qmh: number,
  rlQps: number | null,
  rlQpm: number | null,
  rlQph: number | null,
];

export const TIER_COLUMNS = 'name, trs, ads, qms, qmh, rl_qps, rl_qpm, rl_qph';

export function toTier([name, trs, ads, qms, qmh, rlQps, rlQpm, rlQph]: TierRow): Tier {
  return { name, trs, ads: ads === '' ? [] : ads.split(','), qms, qmh, rlQps, rlQpm, rlQph };
}

export function toTierRow({ name, trs, ads, qms, qmh, rlQps, rlQpm, rlQph }: Tier): TierRow {
  return [name, trs, ads.join(','), qms, qmh, rlQps, rlQpm, rlQph];
}

/** Built-in tiers are not in the table. */
export function builtInTier(name: string): Tier | undefined {
  return BUILT_IN_TIERS.find((tier) => tier.name === name);
}

export function tierNotFound(name: string): AppError {
  return new AppError('not_found', `There is no tier ${JSON.stringify(name)}`);
}

export type KeyRow = [kid: string, secret: Uint8Array, createdTs: number];

export const KEY_COLUMNS = 'kid, secret, created_ts';

export function toKey([kid, secret, createdTs]: KeyRow): SigningKey {
  return { kid, secret, createdTs };
}

export type SessionRow = [
  id: string,
  sub: string,
  generation: number,
  createdTs: number,
  usedTs: number,
  address: string,
  agent: string,
];

export function toSession([id, sub, generation, createdTs, usedTs, address, agent]: SessionRow): Session {
  return { id, sub, generation, createdTs, usedTs, address, agent };
}

export function toSessionRow({ id, sub, generation, createdTs, usedTs, address, agent }: Session): SessionRow {
  return [id, sub, generation, createdTs, usedTs, address, agent];
}
