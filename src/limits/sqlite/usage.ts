import { daysOfMonth } from '../../core/quota.ts';
import { readPages } from '../../database/pages.ts';
import type { Database } from '../../database/sqlite/database.ts';
import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { Usage, UsageStore } from '../store.ts';
import {
  DELETE_BATCH,
  type MonthUsageRow,
  monthUsagePage,
  type UsageRow,
  type WrongMonth,
  wrongMonths,
} from '../usage-rules.ts';

const USAGE = `
  select coalesce((select count from usage where sub = :sub and period = 'day' and number = :day), 0),
         coalesce((select count from usage where sub = :sub and period = 'month' and number = :month), 0)`;

const BY_DAY = `
  select number, count from usage where sub = ? and period = 'day' and number >= ? and number <= ? and count > 0
  order by number`;

const NEXT_SUB = 'select min(sub) from usage where sub > ?';

const USAGE_OF_SUB = 'select period, number, count from usage where sub = ?';

/** Accounts in a page of a report: 500 rows with 31 days each. */
const REPORT_PAGE_ACCOUNTS = 16;

const MONTH_USAGE = `
  with page as materialized (
    select sub from usage where period = 'month' and number = :month and sub > :after order by sub limit ${REPORT_PAGE_ACCOUNTS}
  )
  select page.sub, days.number, days.count
  from page left join usage as days
    on days.sub = page.sub and days.period = 'day' and days.number >= :firstDay and days.number < :endDay
  order by page.sub, days.number`;

/** Counted queries in `control.db`. */
export function createUsageStore({ db, write }: DatabaseFile<UsageWrites>): UsageStore {
  const read = db.prepare<[day: number, month: number]>(USAGE);
  const byDay = db.prepare<[day: number, count: number]>(BY_DAY);
  const nextSub = db.prepare<[string | null]>(NEXT_SUB);
  const ofSub = db.prepare<UsageRow>(USAGE_OF_SUB);
  const ofMonth = db.prepare<MonthUsageRow>(MONTH_USAGE);
  const reported = db.prepare<[number]>('select reported_ts from reported_months where month = ?');

  return {
    async usage(sub, day, month) {
      const counts = read.get({ sub, day, month }) ?? [0, 0];
      return { day: counts[0], month: counts[1] };
    },
    usageByDay: async (...params) => byDay.all(...params).map(([day, count]) => ({ day, count })),
    addUsage: (usage) => write('addUsage', usage),
    async checkUsage(after) {
      const sub = nextSub.get(after)?.[0] ?? null;
      if (sub === null) return null;
      const rows = ofSub.all(sub);
      return { sub, rows: rows.length, wrong: wrongMonths(rows) };
    },
    repairUsage: (sub) => write('repairUsage', sub),

    monthUsage: (month) =>
      readPages('', {}, (after) =>
        monthUsagePage(ofMonth.all({ month, after, ...daysOfMonth(month) }), REPORT_PAGE_ACCOUNTS),
      ),
    reportedTs: async (month) => reported.get(month)?.[0] ?? null,
    markReported: (month, ts) => write('markReported', month, ts),
    deleteOldUsage: (before) => write('deleteOldUsage', before),
  };
}

const ADD_USAGE = `
  insert into usage (sub, period, number, count) values (?, ?, ?, max(0, ?))
  on conflict do update set count = max(0, count + ?)`;

const SET_MONTH = `
  insert into usage (sub, period, number, count) values (?, 'month', ?, ?) on conflict do update set count = excluded.count`;

type UsageWrites = ReturnType<typeof createUsageWrites>;

/** The writes, which run on the writer thread of `control.db`. */
export function createUsageWrites(db: Database) {
  const add = db.prepare(ADD_USAGE);
  const ofSub = db.prepare<UsageRow>(USAGE_OF_SUB);
  const setMonth = db.prepare(SET_MONTH);

  return {
    repairUsage(sub: string): WrongMonth[] {
      return db.transaction(() => {
        const wrong = wrongMonths(ofSub.all(sub));
        for (const { month, sum } of wrong) setMonth.run(sub, month, sum);
        return wrong;
      });
    },

    addUsage(usage: readonly Usage[]): void {
      db.transaction(() => {
        for (const { sub, day, month, count } of usage) {
          add.run(sub, 'day', day, count, count);
          add.run(sub, 'month', month, count, count);
        }
      });
    },

    ...cleanupWrites(db),
  };
}

const MARK_REPORTED = 'insert into reported_months (month, reported_ts) values (?, ?) on conflict do nothing';

/** Days without a month are found too: a damaged file may have lost it. */
const OLD_SUBS = `
  select sub from (select sub from usage where period = 'month' and number < :month limit ${DELETE_BATCH})
  union
  select sub from (select sub from usage where period = 'day' and number < :firstDay limit ${DELETE_BATCH})`;

const DELETE_OLD = `
  delete from usage where sub = :sub and (period = 'month' and number < :month or period = 'day' and number < :firstDay)`;

const REPORTED = `
  select usage.sub, usage.number
  from removed_accounts as removed join reported_months as reported
    join usage on usage.sub = removed.sub and usage.period = 'month' and usage.number = reported.month
  limit ${DELETE_BATCH}`;

const DELETE_MONTH = `
  delete from usage
  where sub = :sub and (period = 'month' and number = :month or period = 'day' and number >= :firstDay and number < :endDay)`;

const FORGET_REMOVED = `
  delete from removed_accounts
  where removed_ts < ? and not exists (select 1 from usage where usage.sub = removed_accounts.sub)`;

function cleanupWrites(db: Database) {
  const markReported = db.prepare(MARK_REPORTED);
  const oldSubs = db.prepare<[sub: string]>(OLD_SUBS);
  const deleteOld = db.prepare(DELETE_OLD);
  const reported = db.prepare<[sub: string, month: number]>(REPORTED);
  const deleteMonth = db.prepare(DELETE_MONTH);
  const forgetRemoved = db.prepare(FORGET_REMOVED);
  const forgetReported = db.prepare('delete from reported_months where month < ?');

  return {
    markReported(month: number, ts: number): void {
      db.transaction(() => markReported.run(month, ts));
    },

    deleteOldUsage({ month, removedTs }: { month: number; removedTs: number }): number {
      return db.transaction(() => {
        let rows = 0;
        const { firstDay } = daysOfMonth(month);
        for (const [sub] of oldSubs.all({ month, firstDay })) rows += deleteOld.run({ sub, month, firstDay });
        for (const [sub, one] of reported.all()) rows += deleteMonth.run({ sub, month: one, ...daysOfMonth(one) });
        forgetRemoved.run(removedTs);
        forgetReported.run(month);
        return rows;
      });
    },
  };
}
