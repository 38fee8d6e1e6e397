import type { Database } from '../../database/sqlite/database.ts';
import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { NewAuditEntry } from '../entry.ts';
import {
  type ClaimedEventRow,
  EVENT_COLUMNS,
  type MonthUsageRow,
  toClaimedEvent,
  toEventRow,
  toMonthUsage,
} from '../rows.ts';
import type { AttemptEnd, ClaimedEvent, SoftLimitEvent, SoftLimitStore } from '../store.ts';
import { createAddEntry } from './audit.ts';

const IS_DUE = 'select 1 from soft_limit_events where next_ts <= ? limit 1';

// Begins with the usage, in the order of its index, so that a page reads little more than it returns.
const USAGE_WITHOUT_EVENT = `
  select a.sub, a.username, a.tier, u.count from usage as u cross join accounts as a on a.sub = u.sub
  where u.period = 'month' and u.number = :month and u.sub > :sub
    and not exists (select 1 from soft_limit_events as e where e.sub = u.sub and e.month = :month)
  order by u.sub limit :limit`;

/** Events of soft limits in `control.db`. */
export function createSoftLimitStore({ db, write }: DatabaseFile<SoftLimitWrites>): SoftLimitStore {
  const isDue = db.prepare<[1]>(IS_DUE);
  const withoutEvent = db.prepare<MonthUsageRow>(USAGE_WITHOUT_EVENT);

  return {
    addSoftLimitEvent: (event, nextTs, entry) => write('addSoftLimitEvent', event, nextTs, entry),
    // Reads first: a write would lock the file at each poll.
    claimSoftLimitEvent: async (nowTs, leaseUntilTs) =>
      isDue.get(nowTs) === undefined ? null : write('claimSoftLimitEvent', nowTs, leaseUntilTs),
    endSoftLimitAttempt: (event, end) => write('endSoftLimitAttempt', event, end),
    monthUsageWithoutEvent: async (month, sub, limit) => withoutEvent.all({ month, sub, limit }).map(toMonthUsage),
    removeSoftLimitEvents: (beforeTs) => write('removeSoftLimitEvents', beforeTs),
  };
}

const ADD = `
  insert into soft_limit_events (${EVENT_COLUMNS}, next_ts) values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`;

const CLAIM = `
  update soft_limit_events set attempts = attempts + 1, next_ts = :leaseUntilTs
  where (sub, month) = (
    select sub, month from soft_limit_events where next_ts <= :nowTs order by next_ts, sub, month limit 1)
  returning ${EVENT_COLUMNS}, attempts`;

const END = `
  update soft_limit_events set delivered_ts = :deliveredTs, next_ts = :nextTs, last_error = :error
  where sub = :sub and month = :month`;

type SoftLimitWrites = ReturnType<typeof createSoftLimitWrites>;

/** The writes, which run on the writer thread of `control.db`. */
export function createSoftLimitWrites(db: Database) {
  const add = db.prepare(ADD);
  const addEntry = createAddEntry(db);
  const claim = db.prepare<ClaimedEventRow>(CLAIM);
  const end = db.prepare(END);
  const remove = db.prepare('delete from soft_limit_events where ts < ?');

  return {
    addSoftLimitEvent(event: SoftLimitEvent, nextTs: number | null, entry: NewAuditEntry): boolean {
      return db.transaction(() => {
        const isNew = add.run(...toEventRow(event), nextTs) > 0;
        if (isNew) addEntry(entry);
        return isNew;
      });
    },

    claimSoftLimitEvent(nowTs: number, leaseUntilTs: number): ClaimedEvent | null {
      const row = claim.get({ nowTs, leaseUntilTs });
      return row === undefined ? null : toClaimedEvent(row);
    },

    endSoftLimitAttempt({ sub, month }: Pick<SoftLimitEvent, 'sub' | 'month'>, attempt: AttemptEnd): void {
      end.run({ sub, month, ...attempt });
    },

    removeSoftLimitEvents(beforeTs: number): void {
      remove.run(beforeTs);
    },
  };
}
