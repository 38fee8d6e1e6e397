import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { windowEnd, windowIndex, windowSeconds } from '../core/quota.ts';
import { dayText } from '../core/time.ts';
import type { Parameter } from '../http/endpoint.ts';
import { integerParameter, queryString } from '../http/query.ts';
import type { UsageStore } from './store.ts';
import type { UsageDaysResponse } from './wire.ts';

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

const DAY_SECONDS = windowSeconds('day', 0);

type Asked = { sub: string; limits: { qms: number; qmh: number } | null; days: number };

/** The queries of an account by day, up to today (UTC), and its month: what the bill has. */
export async function usageDays(
  store: Pick<UsageStore, 'usage' | 'usageDays'>,
  { sub, limits, days }: Asked,
  nowTs: number,
): Promise<UsageDaysResponse> {
  const today = windowIndex('day', nowTs);
  const firstDay = today - days + 1;
  const [{ month }, counted] = await Promise.all([
    store.usage(sub, today, windowIndex('month', nowTs)),
    store.usageDays(sub, firstDay, today),
  ]);
  return {
    from_day: textOf(firstDay),
    to_day: textOf(today),
    days: counted.map(({ day, count }) => ({ day: textOf(day), queries: count })),
    month: {
      queries: month,
      soft: limits?.qms ?? null,
      hard: limits?.qmh ?? null,
      resets_ts: windowEnd('month', nowTs),
    },
  };
}

const textOf = (day: number): string => dayText(day * DAY_SECONDS);
