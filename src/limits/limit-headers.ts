import { type Counts, type Policy, tightestStanding, windowEnd, windowSeconds } from '../core/quota.ts';

export type LimitHeaders = (policies: readonly Policy[], counts: Counts, ts: number) => Record<string, string>;

/**
 * How an account stands with its limits, for every counted answer and every refusal
 * (draft-ietf-httpapi-ratelimit-headers, structured fields): all policies, and of the one with the least left in
 * proportion what is left and in how many seconds it begins anew.
 *
 *     RateLimit-Policy: "rl_qps";q=5;w=1, "rl_qpm";q=50;w=60, …
 *     RateLimit: "rl_qps";r=4;t=1
 */
export function createLimitHeaders(): LimitHeaders {
  /** What does not change within a month is written once. */
  const texts = new WeakMap<readonly Policy[], { text: string; sinceTs: number; untilTs: number }>();

  function policyText(policies: readonly Policy[], ts: number): string {
    const known = texts.get(policies);
    if (known !== undefined && ts >= known.sinceTs && ts < known.untilTs) return known.text;
    const text = policies
      .map(({ name, limit, window }) => `"${name}";q=${limit};w=${windowSeconds(window, ts)}`)
      .join(', ');
    texts.set(policies, { text, sinceTs: ts, untilTs: windowEnd('month', ts) });
    return text;
  }

  return (policies, counts, ts) => {
    const standing = tightestStanding(policies, counts, ts);
    if (standing === null) return {};
    const { policy, left, resetsInSeconds } = standing;
    return {
      'ratelimit-policy': policyText(policies, ts),
      ratelimit: `"${policy.name}";r=${left};t=${resetsInSeconds}`,
    };
  };
}
