import type { Limits } from './tier.ts';
import { DAY_SECONDS, dayText } from './time.ts';

/** Fixed windows, aligned to UTC. */
export const WINDOWS = ['second', 'minute', 'hour', 'day', 'month'] as const;
export type WindowName = (typeof WINDOWS)[number];

/** The number of queries in each current window. */
export type Counts = Record<WindowName, number>;

/** A limit that refuses queries: its name in the API, its window, and the number of queries it allows. */
export type Policy = { name: string; window: WindowName; limit: number };

/** What is left of a limit, for the response headers and for a refusal. */
type LimitState = { policy: Policy; left: number; resetsInSeconds: number };

const SECONDS = { second: 1, minute: 60, hour: 3_600, day: DAY_SECONDS } as const;

export function policiesOf(limits: Limits): Policy[] {
  return [
    { name: 'rl_qps', window: 'second', limit: limits.rlQps },
    { name: 'rl_qpm', window: 'minute', limit: limits.rlQpm },
    { name: 'rl_qph', window: 'hour', limit: limits.rlQph },
    { name: 'qmh', window: 'month', limit: limits.qmh },
  ];
}

/** The number of the window that contains `ts`, in seconds, minutes, … or months since 1970. */
export function windowIndex(window: WindowName, ts: number): number {
  return window === 'month' ? monthOf(ts).index : Math.floor(ts / SECONDS[window]);
}

/** The first second after the window. */
export function windowEnd(window: WindowName, ts: number): number {
  return window === 'month' ? monthOf(ts).endTs : (windowIndex(window, ts) + 1) * SECONDS[window];
}

/** The length of the window; months differ. */
export function windowSeconds(window: WindowName, ts: number): number {
  if (window !== 'month') return SECONDS[window];
  const { startTs, endTs } = monthOf(ts);
  return endTs - startTs;
}

/** The limit that refuses a query; if several do, the one that resets last. Null if no limit is reached. */
export function reachedLimit(policies: readonly Policy[], counts: Counts, ts: number): LimitState | null {
  const reached = policies.filter((policy) => leftOf(policy, counts) === 0);
  return reached
    .map((policy) => stateOf(policy, counts, ts))
    .reduce<LimitState | null>(
      (last, state) => (last !== null && last.resetsInSeconds >= state.resetsInSeconds ? last : state),
      null,
    );
}

/** The limit with the smallest share left. */
export function tightestLimit(policies: readonly Policy[], counts: Counts, ts: number): LimitState | null {
  let tightest: Policy | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const policy of policies) {
    const share = policy.limit === 0 ? 0 : leftOf(policy, counts) / policy.limit;
    if (share >= least) continue;
    tightest = policy;
    least = share;
  }
  return tightest === null ? null : stateOf(tightest, counts, ts);
}

function stateOf(policy: Policy, counts: Counts, ts: number): LimitState {
  return { policy, left: leftOf(policy, counts), resetsInSeconds: windowEnd(policy.window, ts) - ts };
}

/** The count can exceed the limit: the last accepted query may cost more than what was left. */
function leftOf({ window, limit }: Policy, counts: Counts): number {
  return Math.max(0, limit - counts[window]);
}

/** The first day of a month, and the first day after it, in days since 1970. The month is given in months since 1970. */
export function daysOfMonth(month: number): { firstDay: number; endDay: number } {
  return { firstDay: monthStart(month) / SECONDS.day, endDay: monthStart(month + 1) / SECONDS.day };
}

const MONTH = /^(\d{4})-(0[1-9]|1[0-2])$/;

/** `2026-10` in months since 1970; null for any other text. */
export function parseMonth(text: string): number | null {
  const [, year, month] = MONTH.exec(text) ?? [];
  const index = (Number(year) - 1970) * 12 + Number(month) - 1;
  return index >= 0 ? index : null;
}

/** The inverse of `parseMonth`. */
export function monthText(month: number): string {
  return dayText(monthStart(month)).slice(0, '2026-10'.length);
}

type Month = { index: number; startTs: number; endTs: number };

/** Cached, because every query needs the current month, and computing it took half of the time of a limit check. */
let lastMonth: Month = { index: 0, startTs: 0, endTs: 0 };

function monthOf(ts: number): Month {
  if (ts >= lastMonth.startTs && ts < lastMonth.endTs) return lastMonth;
  const date = new Date(ts * 1000);
  const index = (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
  lastMonth = { index, startTs: monthStart(index), endTs: monthStart(index + 1) };
  return lastMonth;
}

function monthStart(index: number): number {
  return Date.UTC(1970, index, 1) / 1000;
}
