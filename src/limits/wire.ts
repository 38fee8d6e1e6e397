import type { FastifyRequest } from 'fastify';
import { type Counts, windowEnd, windowIndex } from '../core/quota.ts';
import { DAY_SECONDS, dayText } from '../core/time.ts';
import type { Caller, Parameter } from '../http/endpoint.ts';
import { integerParameter, queryString } from '../http/query.ts';
import { IntegerOrNull, MAX_INTEGER, Timestamp } from '../http/scalars.ts';
import { type Static, Type } from '../http/schema.ts';
import type { DayUsage } from './store.ts';

const count = (description: string) => Type.Integer({ minimum: 0, maximum: MAX_INTEGER, description });

/** Keys are abbreviations: q queries, m month, s and h soft and hard limit, rl rate limit, qp queries per. */
export const LimitsResponse = Type.Object({
  status: Type.Literal(200),
  code: Type.Literal(200),
  account: Type.Object({
    sub: Type.String({ description: 'Subscription number, eight digits.' }),
    usr: Type.String({ description: 'The username of the account.' }),
  }),
  limits: Type.Object({
    ads: Type.String({ description: 'Datasets that may be queried, separated by commas.' }),
    trs: Type.String({ description: 'Access level.' }),
    qms: count('Queries per month, soft limit: exceeding it is only logged.'),
    qmh: count('Queries per month, hard limit: further queries are refused.'),
    rl_qph: count('Queries per hour.'),
    rl_qpm: count('Queries per minute.'),
    rl_qps: count('Queries per second.'),
  }),
  current: Type.Object({
    qpm: count('Queries this month.'),
    qpd: count('Queries today.'),
    rl_qph: count('Queries this hour.'),
    rl_qpm: count('Queries this minute.'),
    rl_qps: count('Queries this second.'),
  }),
});
export type LimitsResponse = Static<typeof LimitsResponse>;

export function toLimitsResponse({ account, limits }: Caller, counts: Counts): LimitsResponse {
  return {
    status: 200,
    code: 200,
    account: { sub: account.sub, usr: account.username },
    limits: {
      ads: limits.ads.join(','),
      trs: limits.trs,
      qms: limits.qms,
      qmh: limits.qmh,
      rl_qph: limits.rlQph,
      rl_qpm: limits.rlQpm,
      rl_qps: limits.rlQps,
    },
    current: {
      qpm: counts.month,
      qpd: counts.day,
      rl_qph: counts.hour,
      rl_qpm: counts.minute,
      rl_qps: counts.second,
    },
  };
}

const Day = Type.String({ description: 'A UTC day, such as 2026-10-31.' });

export const UsageByDayResponse = Type.Object({
  from_day: Day,
  to_day: Day,
  days: Type.Array(Type.Object({ day: Day, queries: count('Queries of that day.') }), {
    description: 'In their order. Days without queries are left out.',
  }),
  month: Type.Object({
    queries: count('Queries this month.'),
    soft: IntegerOrNull,
    hard: IntegerOrNull,
    resets_ts: Timestamp,
  }),
});
export type UsageByDayResponse = Static<typeof UsageByDayResponse>;

/** Days that are shown unless the request has another number: three months. */
const DAYS_DEFAULT = 90;
/** One statement reads them: a row per day. Usage is kept for 24 months by default. */
const DAYS_MAX = 800;

export const daysParameter: Parameter = {
  in: 'query',
  name: 'days',
  schema: Type.Integer({ minimum: 1, maximum: DAYS_MAX, default: DAYS_DEFAULT }),
  description: 'How many days, up to today.',
};

export function readDays(request: FastifyRequest): number {
  return integerParameter(queryString(request), 'days', 1, DAYS_MAX) ?? DAYS_DEFAULT;
}

/** The days that a query of `days` up to `ts` is about, in days since 1970. */
export function usageDays(ts: number, days: number): { fromDay: number; toDay: number } {
  const toDay = windowIndex('day', ts);
  return { fromDay: toDay - days + 1, toDay };
}

/** The count of today is that of the counters, which are ahead of the stored days. */
export function toUsageByDay(
  stored: readonly DayUsage[],
  { counts, ts }: { counts: Pick<Counts, 'day' | 'month'>; ts: number },
  limits: Pick<Caller['limits'], 'qms' | 'qmh'> | null,
  days: number,
): UsageByDayResponse {
  const { fromDay, toDay } = usageDays(ts, days);
  const text = (day: number) => dayText(day * DAY_SECONDS);
  const known = [...stored.filter(({ day }) => day !== toDay), { day: toDay, count: counts.day }];
  return {
    from_day: text(fromDay),
    to_day: text(toDay),
    days: known.filter((day) => day.count > 0).map((day) => ({ day: text(day.day), queries: day.count })),
    month: {
      queries: counts.month,
      soft: limits?.qms ?? null,
      hard: limits?.qmh ?? null,
      resets_ts: windowEnd('month', ts),
    },
  };
}
