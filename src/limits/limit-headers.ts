import { type Counts, type Policy, tightestLimit, windowEnd, windowSeconds } from '../core/quota.ts';

type LimitHeaders = (policies: readonly Policy[], counts: Counts, ts: number) => Record<string, string>;

/**
 * The rate limit headers of every charged response and every refusal (draft-ietf-httpapi-ratelimit-headers, structured
 * fields): all policies, and for the policy with the smallest share left, how much is left (r) and in how many seconds
 * its window ends (t).
 *
 *     RateLimit-Policy: "rl_qps";q=5;w=1, "rl_qpm";q=50;w=60, …
 *     RateLimit: "rl_qps";r=4;t=1
 */
export function createLimitHeaders(): LimitHeaders {
  /** The text of the policies changes only with the length of the month. */
  const texts = new WeakMap<readonly Policy[], { text: string; sinceTs: number; untilTs: number }>();

  function policyText(policies: readonly Policy[], ts: number): string {
    const cached = texts.get(policies);
    if (cached !== undefined && ts >= cached.sinceTs && ts < cached.untilTs) return cached.text;
    const text = policies
      .map(({ name, limit, window }) => `"${name}";q=${limit};w=${windowSeconds(window, ts)}`)
      .join(', ');
    texts.set(policies, { text, sinceTs: ts, untilTs: windowEnd('month', ts) });
    return text;
  }

  return (policies, counts, ts) => {
    const state = tightestLimit(policies, counts, ts);
    if (state === null) return {};
    const { policy, left, resetsInSeconds } = state;
    return {
      'ratelimit-policy': policyText(policies, ts),
      ratelimit: `"${policy.name}";r=${left};t=${resetsInSeconds}`,
    };
  };
}
