import type { Caller } from '../accounts/caller.ts';
import { AppError } from '../core/errors.ts';
import { type Counts, type Policy, policiesOf, refusingStanding } from '../core/quota.ts';
import type { Limits } from '../core/tier.ts';
import type { Counters } from '../limits/counters.ts';
import { isOurFault } from './errors.ts';
import { createLimitHeaders, type LimitHeaders } from './limit-headers.ts';

export type Query = {
  caller: Caller;
  weight: number;
  /** How the account stands, for the answer and for the refusal. */
  onHeaders(headers: LimitHeaders): void;
};

/** Counts a query, then does it. What fails on our side is not charged to the month and the day. */
export type Counted = <Answer>(query: Query, answer: () => Answer | Promise<Answer>) => Promise<Answer>;

export function createCounted(counters: Counters, onSoftLimit: (caller: Caller) => void): Counted {
  const policiesFor = createPolicies();
  const limitHeaders = createLimitHeaders();
  return async ({ caller, weight, onHeaders }, answer) => {
    const { account, limits } = caller;
    const policies = policiesFor(limits);
    const { isAdmitted, counts, ts } = await counters.take(account.sub, policies, weight);
    onHeaders(limitHeaders(policies, counts, ts));
    if (!isAdmitted) throw limitReached(policies, counts, ts);
    if (counts.month > limits.qms && counts.month - weight <= limits.qms) onSoftLimit(caller);
    try {
      return await answer();
    } catch (error) {
      if (isOurFault(error)) await counters.giveBack(account.sub, weight, ts);
      throw error;
    }
  };
}

/** The same list for the same limits, which live as long as a copy of the accounts: what is made from it can be kept. */
function createPolicies(): (limits: Limits) => readonly Policy[] {
  const known = new WeakMap<Limits, readonly Policy[]>();
  return (limits) => {
    const policies = known.get(limits);
    if (policies !== undefined) return policies;
    const made = policiesOf(limits);
    known.set(limits, made);
    return made;
  };
}

export function limitReached(policies: readonly Policy[], counts: Counts, ts: number): AppError {
  const standing = refusingStanding(policies, counts, ts);
  if (standing === null) throw new Error('a query was refused while every limit had room');
  const { policy, resetsInSeconds } = standing;
  const message = `The limit ${policy.name} is reached (${policy.limit} a ${policy.window}); try again in ${resetsInSeconds} s`;
  return new AppError('limit_reached', message, { retryAfterSeconds: resetsInSeconds, limit: policy.name });
}
