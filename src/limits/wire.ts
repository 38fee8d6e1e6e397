import { type Static, Type } from 'typebox';
import type { Counts } from '../core/quota.ts';
import type { Caller } from '../http/endpoint.ts';
import { MAX_INTEGER } from '../http/scalars.ts';

const count = (description: string) => Type.Integer({ minimum: 0, maximum: MAX_INTEGER, description });

/** The names are those of the wire: q for queries, m for month, s and h for soft and hard, rl for rate limit. */
export const LimitsResponse = Type.Object({
  status: Type.Literal(200),
  code: Type.Literal(200),
  account: Type.Object({
    sub: Type.String({ description: 'Subscription identifier.' }),
    usr: Type.String({ description: 'The name of the account.' }),
  }),
  limits: Type.Object({
    ads: Type.String({ description: 'Datasets that may be queried, separated by commas.' }),
    trs: Type.String({ description: 'Access level.' }),
    qms: count('Queries a month, soft limit: passing it is noted.'),
    qmh: count('Queries a month, hard limit: from there on queries are refused.'),
    rl_qph: count('Queries an hour.'),
    rl_qpm: count('Queries a minute.'),
    rl_qps: count('Queries a second.'),
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
