import type { Tier } from '../../core/tier.ts';
import type { Account, SigningKey } from '../control.ts';
import {
  ACCOUNT_COLUMNS,
  type AccountRow,
  KEY_COLUMNS,
  type KeyRow,
  TIER_COLUMNS,
  type TierRow,
  toAccount,
  toKey,
  toTier,
} from '../control-rows.ts';
import { feedReads } from './control-feeds.ts';
import { importReads } from './control-imports.ts';
import type { Database } from './database.ts';

const ACCOUNTS = `select ${ACCOUNT_COLUMNS} from accounts`;

const TIERS = `select ${TIER_COLUMNS} from tiers order by name`;

export const KEYS = `select ${KEY_COLUMNS} from signing_keys order by id desc`;

const USAGE = `
  select coalesce((select count from usage where sub = :sub and period = 'day' and number = :day), 0),
         coalesce((select count from usage where sub = :sub and period = 'month' and number = :month), 0)`;

/** The reads of the control data. */
export function createControlReads(db: Database) {
  const version = db.prepare<[number]>('select version from control_version');
  const accounts = db.prepare<AccountRow>(`${ACCOUNTS} order by username_key`);
  const bySub = db.prepare<AccountRow>(`${ACCOUNTS} where sub = ?`);
  const byUsername = db.prepare<AccountRow>(`${ACCOUNTS} where username_key = ?`);
  const tiers = db.prepare<TierRow>(TIERS);
  const keys = db.prepare<KeyRow>(KEYS);
  const usage = db.prepare<[day: number, month: number]>(USAGE);

  return {
    version: async (): Promise<number> => version.get()?.[0] ?? 0,

    accounts: async (): Promise<Account[]> => accounts.all().map(toAccount),
    accountBySub: async (sub: string): Promise<Account | null> => firstAccount(bySub.get(sub)),
    accountByUsername: async (usernameKey: string): Promise<Account | null> =>
      firstAccount(byUsername.get(usernameKey)),

    tiers: async (): Promise<Tier[]> => tiers.all().map(toTier),

    keys: async (): Promise<SigningKey[]> => keys.all().map(toKey),

    async usage(sub: string, day: number, month: number): Promise<{ day: number; month: number }> {
      const counts = usage.get({ sub, day, month }) ?? [0, 0];
      return { day: counts[0], month: counts[1] };
    },

    ...feedReads(db),
    ...importReads(db),
  };
}

function firstAccount(row: AccountRow | undefined): Account | null {
  return row === undefined ? null : toAccount(row);
}
