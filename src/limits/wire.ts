import { type Static, Type } from 'typebox';
import type { Counts } from '../core/quota.ts';
import type { Caller } from '../http/endpoint.ts';
import { IntegerOrNull, MAX_INTEGER, Timestamp } from '../http/scalars.ts';

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

export const UsageDaysResponse = Type.Object({
  from_day: Type.String({ description: 'The first day, such as 2026-01-31 (UTC).' }),
  to_day: Type.String({ description: 'Today.' }),
  days: Type.Array(Type.Object({ day: Type.String(), queries: count('Queries of this day.') }), {
    description: 'Days with queries, in order.',
  }),
  month: Type.Object({
    queries: count('Queries this month.'),
    soft: IntegerOrNull,
    hard: IntegerOrNull,
    resets_ts: Timestamp,
  }),
});
export type UsageDaysResponse = Static<typeof UsageDaysResponse>;
