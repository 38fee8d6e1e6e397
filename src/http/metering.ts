import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../core/errors.ts';
import { type Policy, policiesOf } from '../core/quota.ts';
import { limitReached } from './counted.ts';
import type { Endpoint, EndpointContext } from './endpoint.ts';
import { callerOf } from './hooks/authenticate.ts';
import { createLimitHeaders, type LimitHeaders } from './limit-headers.ts';
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

function countQueries(endpoint: Endpoint, context: EndpointContext): Handler {
  return async (request, reply) => {
    const question = endpoint.read(request, context);
    const weight = endpoint.weight?.(question) ?? 1;
    const onHeaders = (headers: LimitHeaders) => void reply.headers(headers);
    return context.counted({ caller: callerOf(request), weight, onHeaders }, () =>
      endpoint.answer(question, context, { request, reply }),
    );
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

function streamsReached(): AppError {
  const message = `The limit streams is reached (${STREAMS_PER_ACCOUNT} open at a time); read or close one first`;
  return new AppError('limit_reached', message, { retryAfterSeconds: STREAM_RETRY_SECONDS, limit: 'streams' });
}
