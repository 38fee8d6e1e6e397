import { windowIndex } from '../core/quota.ts';
import { DAY_SECONDS } from '../core/time.ts';
import { pageOf } from '../database/pages.ts';

export type UsageRow = [period: string, number: number, count: number];

/** A month whose count is not the sum of its days; `count` is null if the month has none. */
export type WrongMonth = { month: number; count: number | null; sum: number };

/**
 * Days and months are added in one transaction, so a month of an account is the sum of its days. After a failover that lost
 * the row of a day, a refund may lower the month alone.
 */
export function wrongMonths(rows: readonly UsageRow[]): WrongMonth[] {
  const sums = new Map<number, number>();
  const counts = new Map<number, number>();
  for (const [period, number, count] of rows) {
    const month = period === 'month' ? number : windowIndex('month', number * DAY_SECONDS);
    const into = period === 'month' ? counts : sums;
    into.set(month, (into.get(month) ?? 0) + count);
  }
  return [...new Set([...sums.keys(), ...counts.keys()])]
    .map((month) => ({ month, count: counts.get(month) ?? null, sum: sums.get(month) ?? 0 }))
    .filter(({ count, sum }) => count !== sum);
}

/** The queries of an account in a month. Days (days since 1970) are in order; those without queries are missing. */
export type MonthUsage = { sub: string; days: { day: number; count: number }[] };

/** A day of an account, sorted by sub and day; without a day if the account has only a month. */
export type MonthUsageRow = [sub: string, day: number | null, count: number | null];

/** For `readPages`, by sub. A full page has the rows of `pageAccounts` accounts. */
export function monthUsagePage(rows: readonly MonthUsageRow[], pageAccounts: number) {
  return pageOf([...Map.groupBy(rows, ([sub]) => sub)], toMonthUsage, ([sub]) => sub, pageAccounts);
}

function toMonthUsage([sub, rows]: [sub: string, rows: MonthUsageRow[]]): MonthUsage {
  return { sub, days: rows.flatMap(([, day, count]) => (day === null || !count ? [] : [{ day, count }])) };
}

/** Accounts, or months of accounts, that one transaction deletes: some hundred rows, so that counting does not wait. */
export const DELETE_BATCH = 20;
