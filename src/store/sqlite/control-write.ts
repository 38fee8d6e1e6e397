import type { Tier } from '../../core/tier.ts';
import type { Account, AccountChange, SigningKey, Usage } from '../control.ts';
import {
  ACCOUNT_COLUMNS,
  isBuiltInTier,
  KEY_COLUMNS,
  type KeyRow,
  TIER_COLUMNS,
  tierGone,
  toAccountRow,
  toKey,
  toTierRow,
} from '../control-rows.ts';
import { feedWrites } from './control-feeds.ts';
import { importWrites } from './control-imports.ts';
import { KEYS } from './control-read.ts';
import type { Database } from './database.ts';

const RAISE_VERSION = 'update control_version set version = version + 1';

/** Everything that is written to the control data; runs on the writer's thread. */
export function createControlWrites(db: Database) {
  const raiseVersion = db.prepare(RAISE_VERSION);

  /** Whoever keeps a copy learns of it, unless nothing was changed. */
  function changing(work: () => number): boolean {
    return db.transaction(() => {
      const hasChanged = work() > 0;
      if (hasChanged) raiseVersion.run();
      return hasChanged;
    });
  }

  return {
    ...accountWrites(db, changing),
    ...tierWrites(db, changing),
    ...keyWrites(db, changing),
    ...usageWrites(db),
    ...feedWrites(db),
    ...importWrites(db),
  };
}

/** `work` gives the number of rows that it changed. */
type Changing = (work: () => number) => boolean;

const ADD_ACCOUNT = `
  insert into accounts (${ACCOUNT_COLUMNS})
  values (?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`;

const CHANGE_ACCOUNT = `
  update accounts set
    tier = coalesce(?, tier), is_enabled = coalesce(?, is_enabled), password_hash = coalesce(?, password_hash),
    generation = generation + ?
  where sub = ?`;

function accountWrites(db: Database, changing: Changing) {
  const add = db.prepare(ADD_ACCOUNT);
  const change = db.prepare(CHANGE_ACCOUNT);
  const remove = db.prepare('delete from accounts where sub = ?');
  const removeUsage = db.prepare('delete from usage where sub = ?');
  const findTier = db.prepare<[1]>('select 1 from tiers where name = ?');

  function requireTier(name: string): void {
    if (!isBuiltInTier(name) && findTier.get(name) === undefined) throw tierGone(name);
  }

  return {
    addAccount(account: Account): boolean {
      return changing(() => {
        requireTier(account.tier);
        const added = add.run(...toAccountRow(account));
        // A server may write the last counts of an account after its removal; they are not the next one's.
        if (added > 0) removeUsage.run(account.sub);
        return added;
      });
    },

    changeAccount(sub: string, { tier, isEnabled, passwordHash, raisesGeneration }: AccountChange): boolean {
      return changing(() => {
        if (tier !== undefined) requireTier(tier);
        const enabled = isEnabled === undefined ? null : Number(isEnabled);
        return change.run(tier ?? null, enabled, passwordHash ?? null, Number(raisesGeneration ?? false), sub);
      });
    },

    removeAccount(sub: string): boolean {
      return changing(() => {
        removeUsage.run(sub);
        return remove.run(sub);
      });
    },
  };
}

const PUT_TIER = `
  insert or replace into tiers (${TIER_COLUMNS})
  values (?, ?, ?, ?, ?, ?, ?, ?)`;

function tierWrites(db: Database, changing: Changing) {
  const put = db.prepare(PUT_TIER);
  const remove = db.prepare('delete from tiers where name = ?');
  const findUser = db.prepare<[1]>('select 1 from accounts where tier = ? limit 1');

  return {
    putTier(tier: Tier): void {
      changing(() => put.run(...toTierRow(tier)));
    },

    removeTier(name: string): 'removed' | 'unknown' | 'in_use' {
      let isUsed = false;
      const isRemoved = changing(() => {
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

function keyWrites(db: Database, changing: Changing) {
  const add = db.prepare(ADD_KEY);
  const dropSuperseded = db.prepare(DROP_SUPERSEDED);
  const keys = db.prepare<KeyRow>(KEYS);

  return {
    addKey({ kid, secret, createdTs }: SigningKey, keepSince: number): void {
      changing(() => add.run(kid, secret, createdTs) + dropSuperseded.run(keepSince));
    },

    ensureKey(key: SigningKey): SigningKey {
      let signing = key;
      changing(() => {
        const newest = keys.get();
        if (newest === undefined) return add.run(key.kid, key.secret, key.createdTs);
        signing = toKey(newest);
        return 0;
      });
      return signing;
    },
  };
}

const ADD_USAGE = `
  insert into usage (sub, period, number, count) values (?, ?, ?, max(0, ?))
  on conflict do update set count = max(0, count + ?)`;

function usageWrites(db: Database) {
  const add = db.prepare(ADD_USAGE);

  return {
    addUsage(usage: readonly Usage[]): void {
      db.transaction(() => {
        for (const { sub, day, month, count } of usage) {
          add.run(sub, 'day', day, count, count);
          add.run(sub, 'month', month, count, count);
        }
      });
    },
  };
}
