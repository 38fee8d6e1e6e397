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
  select coalesce((select count from usage where sub = $1 and period = 'day' and number = $2), 0),
         coalesce((select count from usage where sub = $1 and period = 'month' and number = $3), 0)`;

/** The reads of the control data. */
export function createControlReads(db: Database) {
  async function firstAccount(sql: string, param: string): Promise<Account | null> {
    const [row] = await db.query<AccountRow>(sql, [param]);
    return row === undefined ? null : toAccount(row);
  }

  return {
    async version(): Promise<number> {
      const [row] = await db.query<[version: number]>('select version from control_version');
      return row?.[0] ?? 0;
    },

    accounts: async (): Promise<Account[]> =>
      (await db.query<AccountRow>(`${ACCOUNTS} order by username_key`)).map(toAccount),
    accountBySub: (sub: string): Promise<Account | null> => firstAccount(`${ACCOUNTS} where sub = $1`, sub),
    accountByUsername: (usernameKey: string): Promise<Account | null> =>
      firstAccount(`${ACCOUNTS} where username_key = $1`, usernameKey),

    tiers: async (): Promise<Tier[]> => (await db.query<TierRow>(TIERS)).map(toTier),

    keys: async (): Promise<SigningKey[]> => (await db.query<KeyRow>(KEYS)).map(toKey),

    async usage(sub: string, day: number, month: number): Promise<{ day: number; month: number }> {
      const [counts = [0, 0]] = await db.query<[day: number, month: number]>(USAGE, [sub, day, month]);
      return { day: counts[0], month: counts[1] };
    },

    ...feedReads(db),
    ...importReads(db),
  };
}
