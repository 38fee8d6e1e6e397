import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../core/errors.ts';
import { type Counts, type Policy, policiesOf, refusingStanding } from '../core/quota.ts';
import type { Limits } from '../core/tier.ts';
import type { Endpoint, EndpointContext } from './endpoint.ts';
import { isOurFault } from './errors.ts';
import { callerOf } from './hooks/authenticate.ts';
import { createLimitHeaders } from './limit-headers.ts';
import { NDJSON } from './ndjson.ts';

/**
 * How a route is counted. `query`: against the limits of the account. `calls`: not as a query, but so many a second.
 * `none`: not at all. A new route must say which; `routes.ts` has the table.
 */
export type Metering = 'query' | 'calls' | 'none';

export type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Calls a second and account that are no queries. */
export const CALLS_PER_SECOND = 100;
/** Streams that an account may have open on a node at a time. */
export const STREAMS_PER_ACCOUNT = 8;
/** When a stream of another client of the same account will have ended, nobody knows. */
const STREAM_RETRY_SECONDS = 1;

export function handlerOf(endpoint: Endpoint, metering: Metering, context: EndpointContext): Handler {
  switch (metering) {
    case 'query':
      return endpoint.response.contentType === NDJSON
        ? limitStreams(countQueries(endpoint, context), context)
        : countQueries(endpoint, context);
    case 'calls':
      return countCalls(endpoint, context);
    case 'none':
      return async (request, reply) => endpoint.answer(endpoint.read(request, context), context, { request, reply });
  }
}

/** Reads, counts, answers. What fails on our side is not charged to the month and the day. */
function countQueries(endpoint: Endpoint, context: EndpointContext): Handler {
  const { counters } = context.services;
  const policiesFor = createPolicies();
  const limitHeaders = createLimitHeaders();
  return async (request, reply) => {
    const question = endpoint.read(request, context);
    const weight = endpoint.weight?.(question) ?? 1;
    const { account, limits } = callerOf(request);
    const policies = policiesFor(limits);
    const { isAdmitted, counts, ts } = await counters.take(account.sub, policies, weight);
    reply.headers(limitHeaders(policies, counts, ts));
    if (!isAdmitted) throw limitReached(policies, counts, ts);
    if (counts.month > limits.qms && counts.month - weight <= limits.qms) {
      request.log.warn({ sub: account.sub, qms: limits.qms }, 'an account has passed its soft monthly limit');
    }
    try {
      return await endpoint.answer(question, context, { request, reply });
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

function countCalls(endpoint: Endpoint, context: EndpointContext): Handler {
  const { counters } = context.services;
  const limitHeaders = createLimitHeaders();
  const policies: Policy[] = [{ name: 'calls', window: 'second', limit: CALLS_PER_SECOND }];
  return async (request, reply) => {
    const { isAdmitted, counts, ts } = await counters.takeCall(callerOf(request).account.sub, CALLS_PER_SECOND);
    if (!isAdmitted) {
      reply.headers(limitHeaders(policies, counts, ts));
      throw limitReached(policies, counts, ts);
    }
    return endpoint.answer(endpoint.read(request, context), context, { request, reply });
  };
}

/** A stream costs memory and time as long as it is open, however few queries it was. */
function limitStreams(handler: Handler, { services: { counters }, openStreams: open }: EndpointContext): Handler {
  const limitHeaders = createLimitHeaders();
  return async (request, reply) => {
    const { account, limits } = callerOf(request);
    const { sub } = account;
    const others = open.get(sub) ?? 0;
    if (others >= STREAMS_PER_ACCOUNT) {
      const { counts, ts } = await counters.read(sub);
      reply.headers(limitHeaders(policiesOf(limits), counts, ts));
      throw streamsReached();
    }
    open.set(sub, others + 1);
    try {
      return await handler(request, reply);
    } finally {
      const left = (open.get(sub) ?? 1) - 1;
      if (left === 0) open.delete(sub);
      else open.set(sub, left);
    }
  };
}

function limitReached(policies: readonly Policy[], counts: Counts, ts: number): AppError {
  const standing = refusingStanding(policies, counts, ts);
  if (standing === null) throw new Error('a query was refused while every limit had room');
  const { policy, resetsInSeconds } = standing;
  const message = `The limit ${policy.name} is reached (${policy.limit} a ${policy.window}); try again in ${resetsInSeconds} s`;
  return new AppError('limit_reached', message, { retryAfterSeconds: resetsInSeconds, limit: policy.name });
}

function streamsReached(): AppError {
  const message = `The limit streams is reached (${STREAMS_PER_ACCOUNT} open at a time); read or close one first`;
  return new AppError('limit_reached', message, { retryAfterSeconds: STREAM_RETRY_SECONDS, limit: 'streams' });
}
