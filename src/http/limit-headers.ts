import { type Counts, type Policy, tightestStanding, windowSeconds } from '../core/quota.ts';

/**
 * How an account stands with its limits, for every counted answer and every refusal
 * (draft-ietf-httpapi-ratelimit-headers, structured fields): all policies, and of the one with the least left in
 * proportion what is left and in how many seconds it begins anew.
 *
 *     RateLimit-Policy: "rl_qps";q=5;w=1, "rl_qpm";q=50;w=60, …
 *     RateLimit: "rl_qps";r=4;t=1
 */
export function limitHeaders(policies: readonly Policy[], counts: Counts, ts: number): Record<string, string> {
  const standing = tightestStanding(policies, counts, ts);
  if (standing === null) return {};
  const { policy, left, resetsInSeconds } = standing;
  return {
    'ratelimit-policy': policies
      .map(({ name, limit, window }) => `"${name}";q=${limit};w=${windowSeconds(window, ts)}`)
      .join(', '),
    ratelimit: `"${policy.name}";r=${left};t=${resetsInSeconds}`,
  };
}
