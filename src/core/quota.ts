import type { Limits } from './tier.ts';

/** Fixed windows, aligned to UTC. */
export const WINDOWS = ['second', 'minute', 'hour', 'day', 'month'] as const;
export type WindowName = (typeof WINDOWS)[number];

/** Counters of the windows that hold a moment. */
export type Counts = Record<WindowName, number>;

/** A limit that refuses: its name on the wire, the window it counts in, and how many it lets through. */
export type Policy = { name: string; window: WindowName; limit: number };

/** How far the limits are used up, for the headers and for a refusal. */
export type Standing = { policy: Policy; left: number; resetsInSeconds: number };

const SECONDS = { second: 1, minute: 60, hour: 3_600, day: 86_400 } as const;

export function policiesOf(limits: Limits): Policy[] {
  return [
    { name: 'rl_qps', window: 'second', limit: limits.rlQps },
    { name: 'rl_qpm', window: 'minute', limit: limits.rlQpm },
    { name: 'rl_qph', window: 'hour', limit: limits.rlQph },
    { name: 'qmh', window: 'month', limit: limits.qmh },
  ];
}

/** Which window of its kind a moment falls in: seconds, minutes, … months since 1970. */
export function windowIndex(window: WindowName, ts: number): number {
  return window === 'month' ? monthOf(ts).index : Math.floor(ts / SECONDS[window]);
}

/** The second after the last one of the window. */
export function windowEnd(window: WindowName, ts: number): number {
  return window === 'month' ? monthOf(ts).endTs : (windowIndex(window, ts) + 1) * SECONDS[window];
}

/** A month is as long as it is. */
export function windowSeconds(window: WindowName, ts: number): number {
  if (window !== 'month') return SECONDS[window];
  const { startTs, endTs } = monthOf(ts);
  return endTs - startTs;
}

/** The limit that keeps a query out: of several, the one that does so longest. Null when all let it through. */
export function refusingStanding(policies: readonly Policy[], counts: Counts, ts: number): Standing | null {
  const reached = policies.filter((policy) => leftOf(policy, counts) === 0);
  return reached
    .map((policy) => standingOf(policy, counts, ts))
    .reduce<Standing | null>(
      (longest, one) => (longest !== null && longest.resetsInSeconds >= one.resetsInSeconds ? longest : one),
      null,
    );
}

/** The limit with the least left in proportion: the one that the next queries will meet first. */
export function tightestStanding(policies: readonly Policy[], counts: Counts, ts: number): Standing | null {
  let tightest: Policy | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const policy of policies) {
    const share = policy.limit === 0 ? 0 : leftOf(policy, counts) / policy.limit;
    if (share >= least) continue;
    tightest = policy;
    least = share;
  }
  return tightest === null ? null : standingOf(tightest, counts, ts);
}

function standingOf(policy: Policy, counts: Counts, ts: number): Standing {
  return { policy, left: leftOf(policy, counts), resetsInSeconds: windowEnd(policy.window, ts) - ts };
}

/** The last query that is let in may pass a limit by its weight less one. */
function leftOf({ window, limit }: Policy, counts: Counts): number {
  return Math.max(0, limit - counts[window]);
}

type Month = { index: number; startTs: number; endTs: number };

/** Kept, since every query asks for the month that it is, and dates cost as much as all the rest of its admission. */
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
