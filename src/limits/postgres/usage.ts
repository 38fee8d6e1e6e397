import { daysOfMonth } from '../../core/quota.ts';
import { readPages } from '../../database/pages.ts';
import type { Database } from '../../database/postgres/database.ts';
import type { UsageStore } from '../store.ts';
import { DELETE_BATCH, type MonthUsageRow, monthUsagePage, type UsageRow, wrongMonths } from '../usage-rules.ts';

/**
 * One statement for a batch of any size. Rows are locked in the order of their keys, so that concurrent nodes cannot
 * deadlock. A refund for a missing row is ignored: the row would be inserted with a negative count, because `excluded`
 * holds only the value to insert.
 */
const ADD_USAGE = `
  with given as (
    select sub, period, number, sum(count)::bigint as count
    from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) as used (sub, day, month, count),
      lateral (values ('day', day), ('month', month)) as periods (period, number)
    group by sub, period, number
  )
  insert into usage (sub, period, number, count)
  select sub, period, number, count from given
  where count >= 0 or exists (
    select from usage as stored
    where stored.sub = given.sub and stored.period = given.period and stored.number = given.number)
  order by sub collate "C", period collate "C", number
  on conflict (sub, period, number) do update set count = greatest(0, usage.count + excluded.count)`;

const USAGE = `
  select coalesce((select count from usage where sub = $1 and period = 'day' and number = $2), 0),
         coalesce((select count from usage where sub = $1 and period = 'month' and number = $3), 0)`;

const BY_DAY = `
  select number, count from usage where sub = $1 and period = 'day' and number >= $2 and number <= $3 and count > 0
  order by number`;

const NEXT_SUB = 'select min(sub) from usage where sub > $1';

const USAGE_OF_SUB = 'select period, number, count from usage where sub = $1';

const LOCK_USAGE = `${USAGE_OF_SUB} order by period collate "C", number for update`;

const SET_MONTHS = `
  insert into usage (sub, period, number, count)
  select $1, 'month', w.number, w.count from unnest($2::bigint[], $3::bigint[]) as w (number, count) order by w.number
  on conflict (sub, period, number) do update set count = excluded.count`;

/** Accounts in a page of a report: some thousand rows. Of 16, as on SQLite, 100,000 accounts took 6,250 round trips, 22 s. */
const REPORT_PAGE_ACCOUNTS = 250;

const MONTH_USAGE = `
  with page as materialized (
    select sub from usage where period = 'month' and number = $1 and sub > $2 order by sub limit ${REPORT_PAGE_ACCOUNTS}
  )
  select page.sub, days.number, days.count
  from page left join usage as days
    on days.sub = page.sub and days.period = 'day' and days.number >= $3 and days.number < $4
  order by page.sub, days.number`;

/** Counted queries, shared by any number of nodes. */
export function createUsageStore(db: Database): UsageStore {
  return {
    async usage(sub, day, month) {
      const [counts = [0, 0]] = await db.query<[day: number, month: number]>(USAGE, [sub, day, month]);
      return { day: counts[0], month: counts[1] };
    },

    async usageByDay(...params) {
      const rows = await db.query<[day: number, count: number]>(BY_DAY, params);
      return rows.map(([day, count]) => ({ day, count }));
    },

    async addUsage(usage) {
      await db.run(ADD_USAGE, [
        usage.map(({ sub }) => sub),
        usage.map(({ day }) => day),
        usage.map(({ month }) => month),
        usage.map(({ count }) => count),
      ]);
    },

    async checkUsage(after) {
      const [next] = await db.query<[string | null]>(NEXT_SUB, [after]);
      const sub = next?.[0] ?? null;
      if (sub === null) return null;
      const rows = await db.query<UsageRow>(USAGE_OF_SUB, [sub]);
      return { sub, rows: rows.length, wrong: wrongMonths(rows) };
    },

    repairUsage: (sub) =>
      db.transaction(async (session) => {
        const wrong = wrongMonths(await session.query<UsageRow>(LOCK_USAGE, [sub]));
        const columns = [wrong.map(({ month }) => month), wrong.map(({ sum }) => sum)];
        if (wrong.length > 0) await session.run(SET_MONTHS, [sub, ...columns]);
        return wrong;
      }),

    monthUsage(month) {
      const { firstDay, endDay } = daysOfMonth(month);
      return readPages('', {}, async (after) => {
        const rows = await db.query<MonthUsageRow>(MONTH_USAGE, [month, after, firstDay, endDay]);
        return monthUsagePage(rows, REPORT_PAGE_ACCOUNTS);
      });
    },

    async reportedTs(month) {
      const [row] = await db.query<[number]>('select reported_ts from reported_months where month = $1', [month]);
      return row?.[0] ?? null;
    },

    ...cleanupWrites(db),
  };
}

const MARK_REPORTED = 'insert into reported_months (month, reported_ts) values ($1, $2) on conflict do nothing';

/** Deletes the rows of `locked`, which are locked in the order of `ADD_USAGE`, so that concurrent nodes cannot deadlock. */
const DELETE_LOCKED = `
  delete from usage using locked
  where usage.sub = locked.sub and usage.period = locked.period and usage.number = locked.number`;

/**
 * Days without a month are found too: they may be inserted while the month is deleted. Accounts are an array, here and below:
 * a join that has to keep the order of the index reads the whole table, 42 s for 2.6 M rows.
 */
export const DELETE_OLD = `
  with subs as materialized (
    (select sub from usage where period = 'month' and number < $1 limit ${DELETE_BATCH})
    union
    (select sub from usage where period = 'day' and number < $2 limit ${DELETE_BATCH})
  ), locked as materialized (
    select sub, period, number from usage
    where sub = any (array(select sub from subs)) and (period = 'month' and number < $1 or period = 'day' and number < $2)
    order by sub, period, number for update
  )
  ${DELETE_LOCKED}`;

const REPORTED_MONTHS = 'select month from reported_months';

export const DELETE_REPORTED = `
  with months as materialized (
    select removed.sub, reported.month, reported.first_day, reported.end_day
    from removed_accounts as removed
      cross join unnest($1::bigint[], $2::bigint[], $3::bigint[]) as reported (month, first_day, end_day)
  ), found as materialized (
    (select months.* from months
      join usage on usage.sub = months.sub and usage.period = 'month' and usage.number = months.month
      limit ${DELETE_BATCH})
    union
    (select months.* from months
      join usage on usage.sub = months.sub and usage.period = 'day'
        and usage.number >= months.first_day and usage.number < months.end_day
      limit ${DELETE_BATCH})
  ), locked as materialized (
    select sub, period, number from usage
    where sub = any (array(select sub from found)) and exists (
      select from found where found.sub = usage.sub and (
        usage.period = 'month' and usage.number = found.month
        or usage.period = 'day' and usage.number >= found.first_day and usage.number < found.end_day))
    order by sub, period, number for update
  )
  ${DELETE_LOCKED}`;

const FORGET_REMOVED = `
  delete from removed_accounts as removed
  where removed_ts < $1 and not exists (select from usage where usage.sub = removed.sub)`;

function cleanupWrites(db: Database) {
  return {
    async markReported(month: number, ts: number): Promise<void> {
      await db.run(MARK_REPORTED, [month, ts]);
    },

    /** Each statement is a transaction of its own, so that rows of usage are locked in one order only. */
    async deleteOldUsage({ month, removedTs }: { month: number; removedTs: number }): Promise<number> {
      const oldRows = await db.run(DELETE_OLD, [month, daysOfMonth(month).firstDay]);
      const months = (await db.query<[month: number]>(REPORTED_MONTHS)).map(([one]) => one);
      const days = months.map(daysOfMonth);
      const bounds = [days.map(({ firstDay }) => firstDay), days.map(({ endDay }) => endDay)];
      const reportedRows = await db.run(DELETE_REPORTED, [months, ...bounds]);
      await db.run(FORGET_REMOVED, [removedTs]);
      await db.run('delete from reported_months where month < $1', [month]);
      return oldRows + reportedRows;
    },
  };
}
