import type { Account, AccountStore } from '../accounts/store.ts';
import { monthText, windowIndex } from '../core/quota.ts';
import { BUILT_IN_TIERS, type Tier } from '../core/tier.ts';
import { DAY_SECONDS, dayText } from '../core/time.ts';
import type { UsageStore } from './store.ts';
import type { MonthUsage } from './usage-rules.ts';

/** The usage of a calendar month (UTC), as the basis of a bill. */
export type UsageReport = {
  /** 2026-10 */
  month: string;
  /** The month is over. */
  isComplete: boolean;
  /** When the month was reported for good; null if it was not. */
  reportedTs: number | null;
  queries: number;
  /** Accounts with queries: by username, then removed accounts by sub. */
  accounts: AccountUsage[];
};

export type AccountUsage = {
  sub: string;
  /** Null for a removed account. */
  username: string | null;
  tier: string | null;
  removedTs: number | null;
  /** Of its tier at the time of the report; of a removed account, at its removal. Null if they are unknown. */
  limits: Pick<Tier, 'qms' | 'qmh'> | null;
  queries: number;
  isSoftLimitPassed: boolean;
  /** Further queries were refused. */
  isHardLimitReached: boolean;
  /** Days with queries, such as 2026-10-31. */
  days: { day: string; queries: number }[];
};

type Stores = Pick<UsageStore, 'monthUsage' | 'reportedTs'> &
  Pick<AccountStore, 'accountPages' | 'removedAccounts' | 'tiers'>;

type Owner = Pick<AccountUsage, 'username' | 'tier' | 'removedTs' | 'limits'>;

const UNKNOWN: Owner = { username: null, tier: null, removedTs: null, limits: null };

/** `month` is in months since 1970. The report has what is stored: servers write their counts twice a second. */
export async function usageReport(stores: Stores, month: number, nowTs: number): Promise<UsageReport> {
  const used: MonthUsage[] = [];
  for await (const page of stores.monthUsage(month)) {
    used.push(...page.filter(({ days }) => days.length > 0));
  }
  const owners = await readOwners(stores);
  const accounts = used
    .map((usage) => accountUsage(usage, owners.get(usage.sub) ?? UNKNOWN))
    .sort((a, b) => compareNames(a.username, b.username));
  return {
    month: monthText(month),
    isComplete: month < windowIndex('month', nowTs),
    reportedTs: await stores.reportedTs(month),
    queries: sum(accounts.map(({ queries }) => queries)),
    accounts,
  };
}

/** By sub. Removed accounts are read last: one that is removed meanwhile is in both lists. */
async function readOwners(stores: Stores): Promise<Map<string, Owner>> {
  const tiers = new Map([...BUILT_IN_TIERS, ...(await stores.tiers())].map((tier) => [tier.name, tier]));
  const accounts: Account[] = [];
  for await (const page of stores.accountPages()) accounts.push(...page);
  const removed = await stores.removedAccounts();
  return new Map<string, Owner>([
    ...removed.map(({ sub, ...others }) => [sub, { ...others, username: null }] as const),
    ...accounts.map(
      ({ sub, username, tier }) => [sub, { username, tier, removedTs: null, limits: tiers.get(tier) ?? null }] as const,
    ),
  ]);
}

/** A month is the sum of its days (`usage-rules.ts`). */
function accountUsage({ sub, days }: MonthUsage, { username, tier, removedTs, limits }: Owner): AccountUsage {
  const queries = sum(days.map(({ count }) => count));
  return {
    sub,
    username,
    tier,
    removedTs,
    queries,
    limits: limits && { qms: limits.qms, qmh: limits.qmh },
    isSoftLimitPassed: limits !== null && queries > limits.qms,
    isHardLimitReached: limits !== null && queries >= limits.qmh,
    days: days.map(({ day, count }) => ({ day: dayText(day * DAY_SECONDS), queries: count })),
  };
}

/** Removed accounts last, in the order of their subs, which they already have. */
function compareNames(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return a < b ? -1 : Number(a > b);
}

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

/** The report for programs; the keys are stable. */
export function usageReportJson({ month, isComplete, reportedTs, queries, accounts }: UsageReport) {
  return {
    month,
    complete: isComplete,
    reported_ts: reportedTs,
    queries,
    accounts: accounts.map(({ sub, username, tier, removedTs, limits, days, ...account }) => ({
      sub,
      username,
      tier,
      removed_ts: removedTs,
      queries: account.queries,
      qms: limits?.qms ?? null,
      qmh: limits?.qmh ?? null,
      soft_limit_passed: account.isSoftLimitPassed,
      hard_limit_reached: account.isHardLimitReached,
      days,
    })),
  };
}
