import type { Tier } from '../../core/tier.ts';
import { PAGE_ROWS, readPages } from '../../database/pages.ts';
import type { Database, Session } from '../../database/postgres/database.ts';
import {
  ACCOUNT_COLUMNS,
  type AccountRow,
  accountPage,
  builtInTier,
  KEY_COLUMNS,
  type KeyRow,
  lastAdministrator,
  mayEndAdministrator,
  REMOVED_ACCOUNT_COLUMNS,
  type RemovedAccountRow,
  TIER_COLUMNS,
  type TierRow,
  tierNotFound,
  toAccount,
  toAccountRow,
  toChangeRow,
  toKey,
  toRemovedAccount,
  toRemovedAccountRow,
  toTier,
  toTierRow,
} from '../rows.ts';
import type { Account, AccountChange, AccountStore, SigningKey } from '../store.ts';

const ACCOUNTS = `select ${ACCOUNT_COLUMNS} from accounts`;

const ACCOUNTS_PAGE = `${ACCOUNTS} where username_key > $1 order by username_key limit ${PAGE_ROWS}`;

const TIERS = `select ${TIER_COLUMNS} from tiers order by name`;

const KEYS = `select ${KEY_COLUMNS} from signing_keys order by id desc`;

const REMOVED_ACCOUNTS = `select ${REMOVED_ACCOUNT_COLUMNS} from removed_accounts order by sub`;

/** Accounts, tiers and keys, shared by any number of nodes. */
export function createAccountStore(db: Database): AccountStore {
  async function findAccount(sql: string, param: string): Promise<Account | null> {
    const [row] = await db.query<AccountRow>(sql, [param]);
    return row === undefined ? null : toAccount(row);
  }

  return {
    async version() {
      const [row] = await db.query<[version: number]>('select version from control_version');
      return row?.[0] ?? 0;
    },

    accounts: async () => (await db.query<AccountRow>(`${ACCOUNTS} order by username_key`)).map(toAccount),
    accountPages: () =>
      readPages('', {}, async (after) => accountPage(await db.query<AccountRow>(ACCOUNTS_PAGE, [after]))),
    accountBySub: (sub) => findAccount(`${ACCOUNTS} where sub = $1`, sub),
    accountByUsername: (usernameKey) => findAccount(`${ACCOUNTS} where username_key = $1`, usernameKey),
    removedAccounts: async () => (await db.query<RemovedAccountRow>(REMOVED_ACCOUNTS)).map(toRemovedAccount),
    tiers: async () => (await db.query<TierRow>(TIERS)).map(toTier),
    keys: async () => (await db.query<KeyRow>(KEYS)).map(toKey),

    ...createAccountWrites(db),
  };
}

const LOCK_VERSION = 'select version from control_version for update';

/**
 * The clock in microseconds, or the old version plus one. A plain counter could repeat a version with different data,
 * after a restored backup or a failover to a standby that lagged.
 */
const RAISE_VERSION = `
  update control_version
  set version = greatest(version + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint)`;

function createAccountWrites(db: Database) {
  /**
   * Raises the version, unless nothing was changed. The lock comes first: all nodes make one change at a time, each
   * statement sees all earlier changes, and changes cannot deadlock.
   */
  function runChange(work: (session: Session) => Promise<number>): Promise<boolean> {
    return db.transaction(async (session) => {
      await session.query(LOCK_VERSION);
      const hasChanged = (await work(session)) > 0;
      if (hasChanged) await session.run(RAISE_VERSION);
      return hasChanged;
    });
  }

  return {
    ...accountWrites(runChange),
    ...tierWrites(runChange),
    ...keyWrites(runChange),
  };
}

/** `work` returns the number of rows that it changed. */
type RunChange = (work: (session: Session) => Promise<number>) => Promise<boolean>;

const ADD_ACCOUNT = `
  insert into accounts (${ACCOUNT_COLUMNS})
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`;

const CHANGE_ACCOUNT = `
  update accounts set
    tier = coalesce($2, tier), is_enabled = coalesce($3, is_enabled), is_admin = coalesce($4, is_admin),
    password_hash = coalesce($5, password_hash), generation = generation + $6
  where sub = $1`;

const IS_LAST_ADMINISTRATOR = `
  select 1 from accounts where sub = $1 and is_admin = 1 and is_enabled = 1
  and not exists (select 1 from accounts where sub <> $1 and is_admin = 1 and is_enabled = 1)`;

const ADD_REMOVED_ACCOUNT = `insert into removed_accounts (${REMOVED_ACCOUNT_COLUMNS}) values ($1, $2, $3, $4, $5)`;

function accountWrites(runChange: RunChange) {
  async function findTier(session: Session, name: string): Promise<Tier | undefined> {
    const builtIn = builtInTier(name);
    if (builtIn !== undefined) return builtIn;
    const [row] = await session.query<TierRow>(`select ${TIER_COLUMNS} from tiers where name = $1`, [name]);
    return row && toTier(row);
  }

  async function requireTier(session: Session, name: string): Promise<void> {
    if ((await findTier(session, name)) === undefined) throw tierNotFound(name);
  }

  async function requireOtherAdministrator(session: Session, sub: string): Promise<void> {
    if ((await session.query(IS_LAST_ADMINISTRATOR, [sub])).length > 0) throw lastAdministrator();
  }

  return {
    addAccount(account: Account): Promise<boolean> {
      return runChange(async (session) => {
        await requireTier(session, account.tier);
        const removed = await session.query('select 1 from removed_accounts where sub = $1', [account.sub]);
        if (removed.length > 0) return 0;
        const added = await session.run(ADD_ACCOUNT, toAccountRow(account));
        // Counts that a server wrote long after the removal of an account; a new account with its sub must not have them.
        if (added > 0) await removeUsage(session, account.sub);
        return added;
      });
    },

    changeAccount(sub: string, change: AccountChange): Promise<boolean> {
      return runChange(async (session) => {
        if (change.tier !== undefined) await requireTier(session, change.tier);
        if (mayEndAdministrator(change)) await requireOtherAdministrator(session, sub);
        if (change.raisesGeneration) await session.run('delete from sessions where sub = $1', [sub]);
        const { tier, isEnabled, isAdmin, passwordHash, raise } = toChangeRow(change);
        return session.run(CHANGE_ACCOUNT, [sub, tier, isEnabled, isAdmin, passwordHash, raise]);
      });
    },

    removeAccount(sub: string, removedTs: number): Promise<boolean> {
      return runChange(async (session) => {
        const [row] = await session.query<AccountRow>(`${ACCOUNTS} where sub = $1`, [sub]);
        if (row === undefined) return 0;
        await requireOtherAdministrator(session, sub);
        const account = toAccount(row);
        const tier = await findTier(session, account.tier);
        await session.run(ADD_REMOVED_ACCOUNT, toRemovedAccountRow(account, tier, removedTs));
        await session.run('delete from soft_limit_events where sub = $1', [sub]);
        await session.run('delete from sessions where sub = $1', [sub]);
        const removed = await session.run('delete from accounts where sub = $1', [sub]);
        // After the account, so that this also finds a key that was being added.
        await session.run('delete from list_keys where sub = $1', [sub]);
        return removed;
      });
    },
  };
}

const PUT_TIER = `
  insert into tiers (${TIER_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8)
  on conflict (name) do update set
    trs = excluded.trs, ads = excluded.ads, qms = excluded.qms, qmh = excluded.qmh,
    rl_qps = excluded.rl_qps, rl_qpm = excluded.rl_qpm, rl_qph = excluded.rl_qph`;

function tierWrites(runChange: RunChange) {
  return {
    async putTier(tier: Tier): Promise<void> {
      await runChange((session) => session.run(PUT_TIER, toTierRow(tier)));
    },

    async removeTier(name: string): Promise<'removed' | 'unknown' | 'in_use'> {
      let isUsed = false;
      const isRemoved = await runChange(async (session) => {
        isUsed = (await session.query('select 1 from accounts where tier = $1 limit 1', [name])).length > 0;
        return isUsed ? 0 : session.run('delete from tiers where name = $1', [name]);
      });
      if (isUsed) return 'in_use';
      return isRemoved ? 'removed' : 'unknown';
    },
  };
}

const ADD_KEY = `insert into signing_keys (${KEY_COLUMNS}) values ($1, $2, $3)`;

const DROP_SUPERSEDED = `
  delete from signing_keys as old
  where (select created_ts from signing_keys where id > old.id order by id limit 1) < $1`;

function keyWrites(runChange: RunChange) {
  return {
    async addKey({ kid, secret, createdTs }: SigningKey, keepSince: number): Promise<void> {
      await runChange(async (session) => {
        const added = await session.run(ADD_KEY, [kid, secret, createdTs]);
        return added + (await session.run(DROP_SUPERSEDED, [keepSince]));
      });
    },

    async ensureKey(key: SigningKey): Promise<SigningKey> {
      let signing = key;
      await runChange(async (session) => {
        const [newest] = await session.query<KeyRow>(`${KEYS} limit 1`);
        if (newest === undefined) return session.run(ADD_KEY, [key.kid, key.secret, key.createdTs]);
        signing = toKey(newest);
        return 0;
      });
      return signing;
    },
  };
}

/**
 * Locks rows in the order of `ADD_USAGE`, to avoid deadlocks; a plain delete locks them in table order. One statement,
 * because a second one might see rows that were added in between, and lock them out of order.
 */
const REMOVE_USAGE = `
  with locked as materialized (
    select period, number from usage where sub = $1 order by period, number for update
  )
  delete from usage where sub = $1 and (period, number) in (select period, number from locked)`;

async function removeUsage(session: Session, sub: string): Promise<void> {
  await session.run(REMOVE_USAGE, [sub]);
}
