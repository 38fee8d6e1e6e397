import type { Tier } from '../../core/tier.ts';
import { PAGE_ROWS, readPages } from '../../database/pages.ts';
import type { Database } from '../../database/sqlite/database.ts';
import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
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

const ACCOUNTS_PAGE = `${ACCOUNTS} where username_key > ? order by username_key limit ${PAGE_ROWS}`;

const TIERS = `select ${TIER_COLUMNS} from tiers order by name`;

const KEYS = `select ${KEY_COLUMNS} from signing_keys order by id desc`;

const REMOVED_ACCOUNTS = `select ${REMOVED_ACCOUNT_COLUMNS} from removed_accounts order by sub`;

/** Accounts, tiers and keys in `control.db`. */
export function createAccountStore({ db, write, checkFile }: DatabaseFile<AccountWrites>): AccountStore {
  const version = db.prepare<[number]>('select version from control_version');
  const accounts = db.prepare<AccountRow>(`${ACCOUNTS} order by username_key`);
  const page = db.prepare<AccountRow>(ACCOUNTS_PAGE);
  const bySub = db.prepare<AccountRow>(`${ACCOUNTS} where sub = ?`);
  const byUsername = db.prepare<AccountRow>(`${ACCOUNTS} where username_key = ?`);
  const removed = db.prepare<RemovedAccountRow>(REMOVED_ACCOUNTS);
  const tiers = db.prepare<TierRow>(TIERS);
  const keys = db.prepare<KeyRow>(KEYS);
  const toAccountOrNull = (row: AccountRow | undefined) => (row === undefined ? null : toAccount(row));

  return {
    async version() {
      checkFile();
      return version.get()?.[0] ?? 0;
    },

    accounts: async () => accounts.all().map(toAccount),
    accountPages: () => readPages('', {}, (after) => accountPage(page.all(after))),
    accountBySub: async (sub) => toAccountOrNull(bySub.get(sub)),
    accountByUsername: async (usernameKey) => toAccountOrNull(byUsername.get(usernameKey)),
    addAccount: (account) => write('addAccount', account),
    changeAccount: (sub, change) => write('changeAccount', sub, change),
    removeAccount: (sub, removedTs) => write('removeAccount', sub, removedTs),
    removedAccounts: async () => removed.all().map(toRemovedAccount),

    tiers: async () => tiers.all().map(toTier),
    putTier: (tier) => write('putTier', tier),
    removeTier: (name) => write('removeTier', name),

    keys: async () => keys.all().map(toKey),
    addKey: (key, keepSince) => write('addKey', key, keepSince),
    ensureKey: (key) => write('ensureKey', key),
  };
}

const RAISE_VERSION = 'update control_version set version = version + 1';

type AccountWrites = ReturnType<typeof createAccountWrites>;

/** The writes; they run on the writer thread of `control.db`. */
export function createAccountWrites(db: Database) {
  const raiseVersion = db.prepare(RAISE_VERSION);

  /** Raises the version, unless nothing was changed. */
  function runChange(work: () => number): boolean {
    return db.transaction(() => {
      const hasChanged = work() > 0;
      if (hasChanged) raiseVersion.run();
      return hasChanged;
    });
  }

  return {
    ...accountWrites(db, runChange),
    ...tierWrites(db, runChange),
    ...keyWrites(db, runChange),
  };
}

/** `work` returns the number of rows that it changed. */
type RunChange = (work: () => number) => boolean;

const ADD_ACCOUNT = `
  insert into accounts (${ACCOUNT_COLUMNS})
  values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`;

const CHANGE_ACCOUNT = `
  update accounts set
    tier = coalesce(:tier, tier), is_enabled = coalesce(:isEnabled, is_enabled), is_admin = coalesce(:isAdmin, is_admin),
    password_hash = coalesce(:passwordHash, password_hash), generation = generation + :raise
  where sub = :sub`;

const IS_LAST_ADMINISTRATOR = `
  select 1 from accounts where sub = :sub and is_admin = 1 and is_enabled = 1
  and not exists (select 1 from accounts where sub <> :sub and is_admin = 1 and is_enabled = 1)`;

const ADD_REMOVED_ACCOUNT = `insert into removed_accounts (${REMOVED_ACCOUNT_COLUMNS}) values (?, ?, ?, ?, ?)`;

function accountWrites(db: Database, runChange: RunChange) {
  const add = db.prepare(ADD_ACCOUNT);
  const change = db.prepare(CHANGE_ACCOUNT);
  const bySub = db.prepare<AccountRow>(`${ACCOUNTS} where sub = ?`);
  const isLastAdministrator = db.prepare<[1]>(IS_LAST_ADMINISTRATOR);
  const removeSessions = db.prepare('delete from sessions where sub = ?');
  const remove = db.prepare('delete from accounts where sub = ?');
  const removeListKeys = db.prepare('delete from list_keys where sub = ?');
  const removeEvents = db.prepare('delete from soft_limit_events where sub = ?');
  const addRemoved = db.prepare(ADD_REMOVED_ACCOUNT);
  const findRemoved = db.prepare<[1]>('select 1 from removed_accounts where sub = ?');
  const removeUsage = db.prepare('delete from usage where sub = ?');
  const tierByName = db.prepare<TierRow>(`select ${TIER_COLUMNS} from tiers where name = ?`);

  function findTier(name: string): Tier | undefined {
    const builtIn = builtInTier(name);
    if (builtIn !== undefined) return builtIn;
    const row = tierByName.get(name);
    return row && toTier(row);
  }

  function requireTier(name: string): void {
    if (findTier(name) === undefined) throw tierNotFound(name);
  }

  function requireOtherAdministrator(sub: string): void {
    if (isLastAdministrator.get({ sub }) !== undefined) throw lastAdministrator();
  }

  return {
    addAccount(account: Account): boolean {
      return runChange(() => {
        requireTier(account.tier);
        if (findRemoved.get(account.sub) !== undefined) return 0;
        const added = add.run(...toAccountRow(account));
        // Counts that a server wrote long after the removal of an account; a new account with its sub must not have them.
        if (added > 0) removeUsage.run(account.sub);
        return added;
      });
    },

    changeAccount(sub: string, accountChange: AccountChange): boolean {
      return runChange(() => {
        if (accountChange.tier !== undefined) requireTier(accountChange.tier);
        if (mayEndAdministrator(accountChange)) requireOtherAdministrator(sub);
        if (accountChange.raisesGeneration) removeSessions.run(sub);
        return change.run({ sub, ...toChangeRow(accountChange) });
      });
    },

    removeAccount(sub: string, removedTs: number): boolean {
      return runChange(() => {
        const row = bySub.get(sub);
        if (row === undefined) return 0;
        requireOtherAdministrator(sub);
        const account = toAccount(row);
        addRemoved.run(...toRemovedAccountRow(account, findTier(account.tier), removedTs));
        removeEvents.run(sub);
        removeSessions.run(sub);
        removeListKeys.run(sub);
        return remove.run(sub);
      });
    },
  };
}

const PUT_TIER = `
  insert or replace into tiers (${TIER_COLUMNS})
  values (?, ?, ?, ?, ?, ?, ?, ?)`;

function tierWrites(db: Database, runChange: RunChange) {
  const put = db.prepare(PUT_TIER);
  const remove = db.prepare('delete from tiers where name = ?');
  const findUser = db.prepare<[1]>('select 1 from accounts where tier = ? limit 1');

  return {
    putTier(tier: Tier): void {
      runChange(() => put.run(...toTierRow(tier)));
    },

    removeTier(name: string): 'removed' | 'unknown' | 'in_use' {
      let isUsed = false;
      const isRemoved = runChange(() => {
        isUsed = findUser.get(name) !== undefined;
        return isUsed ? 0 : remove.run(name);
      });
      if (isUsed) return 'in_use';
      return isRemoved ? 'removed' : 'unknown';
    },
  };
}

const ADD_KEY = `insert into signing_keys (${KEY_COLUMNS}) values (?, ?, ?)`;

const DROP_SUPERSEDED = `
  delete from signing_keys as old
  where (select created_ts from signing_keys where id > old.id order by id limit 1) < ?`;

function keyWrites(db: Database, runChange: RunChange) {
  const add = db.prepare(ADD_KEY);
  const dropSuperseded = db.prepare(DROP_SUPERSEDED);
  const keys = db.prepare<KeyRow>(KEYS);

  return {
    addKey({ kid, secret, createdTs }: SigningKey, keepSince: number): void {
      runChange(() => add.run(kid, secret, createdTs) + dropSuperseded.run(keepSince));
    },

    ensureKey(key: SigningKey): SigningKey {
      let signing = key;
      runChange(() => {
        const newest = keys.get();
        if (newest === undefined) return add.run(key.kid, key.secret, key.createdTs);
        signing = toKey(newest);
        return 0;
      });
      return signing;
    },
  };
}
