import type { Database } from '../../database/postgres/database.ts';
import { withoutNul } from '../../database/postgres/parameters.ts';
import {
  type ClaimedEventRow,
  EVENT_COLUMNS,
  type MonthUsageRow,
  toClaimedEvent,
  toEventRow,
  toMonthUsage,
} from '../rows.ts';
import type { SoftLimitStore } from '../store.ts';
import { addEntry } from './audit.ts';

const ADD = `
  insert into soft_limit_events (${EVENT_COLUMNS}, next_ts) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  on conflict (sub, month) do nothing`;

/** Two nodes never get the same event: the second one skips the locked row. */
const CLAIM = `
  update soft_limit_events set attempts = attempts + 1, next_ts = $2
  where (sub, month) = (
    select sub, month from soft_limit_events where next_ts <= $1 order by next_ts limit 1 for update skip locked)
  returning ${EVENT_COLUMNS}, attempts`;

const END = `
  update soft_limit_events set delivered_ts = $3, next_ts = $4, last_error = $5 where sub = $1 and month = $2`;

// Begins with the usage, in the order of its index, so that a page reads little more than it returns.
const USAGE_WITHOUT_EVENT = `
  select a.sub, a.username, a.tier, u.count from usage as u join accounts as a on a.sub = u.sub
  where u.period = 'month' and u.number = $1 and u.sub > $2
    and not exists (select 1 from soft_limit_events as e where e.sub = u.sub and e.month = $1)
  order by u.sub limit $3`;

/** Events of soft limits, shared by all nodes. */
export function createSoftLimitStore(db: Database): SoftLimitStore {
  return {
    addSoftLimitEvent: (event, nextTs, entry) =>
      db.transaction(async (session) => {
        const isNew = (await session.run(ADD, [...toEventRow(event), nextTs])) > 0;
        if (isNew) await addEntry(session, entry);
        return isNew;
      }),

    async claimSoftLimitEvent(nowTs, leaseUntilTs) {
      const [row] = await db.query<ClaimedEventRow>(CLAIM, [nowTs, leaseUntilTs]);
      return row === undefined ? null : toClaimedEvent(row);
    },

    async endSoftLimitAttempt({ sub, month }, { deliveredTs, nextTs, error }) {
      await db.run(END, [sub, month, deliveredTs, nextTs, withoutNul(error)]);
    },

    monthUsageWithoutEvent: async (month, sub, limit) =>
      (await db.query<MonthUsageRow>(USAGE_WITHOUT_EVENT, [month, sub, limit])).map(toMonthUsage),

    async removeSoftLimitEvents(beforeTs) {
      await db.run('delete from soft_limit_events where ts < $1', [beforeTs]);
    },
  };
}
