import { AppError } from '../core/errors.ts';
import { type Counts, type Policy, policiesOf, reachedLimit } from '../core/quota.ts';
import type { Limits } from '../core/tier.ts';
import { timeText } from '../core/time.ts';
import { callerOf } from '../http/authenticate.ts';
import type { Charging } from '../http/dispatch.ts';
import { createLimitHeaders } from './limit-headers.ts';
import type { Counters } from './store.ts';

/** Calls per second and account that are not queries. */
export const CALLS_PER_SECOND = 100;
const CALL_POLICIES: readonly Policy[] = [{ name: 'calls', window: 'second', limit: CALLS_PER_SECOND }];

/** Queries that a request charges at once: what two requests of an account may charge together beyond what is left. */
const MAX_STEP = 500;

/** Streams that an account may have open on a node at a time. */
export const STREAMS_PER_ACCOUNT = 8;
/** It is unknown when a stream of the account will end. */
const STREAM_RETRY_SECONDS = 1;

/** The queries of an account in this month are more than its soft limit. Called for each of them; must return at once. */
type OnAboveSoftLimit = (state: { sub: string; limit: number; count: number; ts: number }) => void;

/** Charges queries, calls and streams to accounts, with these counters. */
export function createCharging(counters: Counters, onAboveSoftLimit: OnAboveSoftLimit = () => {}): Charging {
  const policiesFor = createPolicyCache();
  const limitHeaders = createLimitHeaders();

  const chargeQuery: Charging['chargeQuery'] = async ({ request, reply }, weight) => {
    const { account, limits } = callerOf(request);
    const policies = policiesFor(limits);
    const { isAdmitted, counts, ts } = await counters.take(account.sub, policies, weight);
    reply.headers(limitHeaders(policies, counts, ts));
    if (!isAdmitted) throw limitReached(policies, counts, ts);
    if (counts.month > limits.qms) {
      onAboveSoftLimit({ sub: account.sub, limit: limits.qms, count: counts.month, ts });
      if (counts.month - weight <= limits.qms) {
        const fields = { requestId: request.id, sub: account.sub, qms: limits.qms };
        request.log.warn(fields, 'an account has passed its soft monthly limit');
      }
    }
    return { sub: account.sub, weight, ts };
  };

  return {
    chargeQuery,

    // Two requests may read the same counts. `take` then admits the second one if anything is left, as for every query.
    async chargeStep(exchange, wanted) {
      const { account, limits } = callerOf(exchange.request);
      const { counts } = await counters.read(account.sub);
      const left = policiesFor(limits).map(({ window, limit }) => limit - counts[window]);
      return chargeQuery(exchange, Math.max(1, Math.min(wanted, MAX_STEP, ...left)));
    },

    refund: ({ sub, weight, ts }) => counters.refund(sub, weight, ts),

    async chargeCall({ request, reply }) {
      const { sub } = callerOf(request).account;
      const { isAdmitted, counts, ts } = await counters.takeCall(sub, CALLS_PER_SECOND);
      if (isAdmitted) return;
      reply.headers(limitHeaders(CALL_POLICIES, counts, ts));
      throw limitReached(CALL_POLICIES, counts, ts);
    },

    async openStream({ request, reply }) {
      const { account, limits } = callerOf(request);
      const close = await counters.openStream(account.sub, STREAMS_PER_ACCOUNT);
      if (close !== null) return close;
      const { counts, ts } = await counters.read(account.sub);
      reply.headers(limitHeaders(policiesFor(limits), counts, ts));
      throw streamsReached();
    },
  };
}

/** Returns the same array for the same limits, so that values derived from it can be cached. */
function createPolicyCache(): (limits: Limits) => readonly Policy[] {
  const cache = new WeakMap<Limits, readonly Policy[]>();
  return (limits) => {
    const cached = cache.get(limits);
    if (cached !== undefined) return cached;
    const policies = policiesOf(limits);
    cache.set(limits, policies);
    return policies;
  };
}

function limitReached(policies: readonly Policy[], counts: Counts, ts: number): AppError {
  const state = reachedLimit(policies, counts, ts);
  if (state === null) throw new Error('a request was refused while every limit had room');
  const { policy, resetsInSeconds } = state;
  const allowed = `${policy.limit} per ${policy.window}`;
  const resetTime = timeText(ts + resetsInSeconds);
  const message = `The limit ${policy.name} is reached (${allowed}); try again in ${resetsInSeconds} s, at ${resetTime}`;
  return new AppError('limit_reached', message, { retryAfterSeconds: resetsInSeconds, limit: policy.name });
}

function streamsReached(): AppError {
  const message = `The limit streams is reached (${STREAMS_PER_ACCOUNT} open at a time); read or close one first`;
  return new AppError('limit_reached', message, { retryAfterSeconds: STREAM_RETRY_SECONDS, limit: 'streams' });
}
