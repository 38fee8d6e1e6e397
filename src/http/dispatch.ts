import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Charge, Endpoint, Exchange, ResponseOptions, Route, StepCharging } from './endpoint.ts';
import { isOurFault } from './errors.ts';
import { NDJSON } from './ndjson.ts';

/** Enforces the limits of accounts. Every method throws `limit_reached` when a limit is reached. */
export type Charging = StepCharging & {
  /** Counts a query. The response gets the limit headers. */
  chargeQuery(exchange: Exchange, weight: number): Promise<Charge>;
  /** Counts a call that is not a query. */
  chargeCall(exchange: Exchange): Promise<void>;
  /** Takes one of the streams that the account may have open; returns the function that releases it. */
  openStream(exchange: Exchange): Promise<() => void>;
};

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** The handler of a route: read the query, charge for it, respond to it. */
export function createHandler({ endpoint, charge }: Route, charging: Charging, options: ResponseOptions): Handler {
  switch (charge) {
    case 'query':
      return endpoint.response.contentType === NDJSON
        ? streamHandler(endpoint, charging, (query, exchange) =>
            respondCharged(endpoint, query, exchange, charging, options),
          )
        : queryHandler(endpoint, charging, options);
    case 'steps':
      return streamHandler(endpoint, charging, (query, exchange) =>
        endpoint.respond(query, exchange, options, charging),
      );
    case 'call':
      return async (request, reply) => {
        const exchange = { request, reply };
        const query = await endpoint.read(request);
        await charging.chargeCall(exchange);
        return endpoint.respond(query, exchange, options, charging);
      };
    case 'own':
    case 'none':
      return async (request, reply) =>
        endpoint.respond(await endpoint.read(request), { request, reply }, options, charging);
  }
}

function queryHandler(endpoint: Endpoint, charging: Charging, options: ResponseOptions): Handler {
  return async (request, reply) => {
    const exchange = { request, reply };
    return respondCharged(endpoint, await endpoint.read(request), exchange, charging, options);
  };
}

/** A stream uses memory and time as long as it is open, so the number of open streams of an account is limited. */
function streamHandler(
  endpoint: Endpoint,
  charging: Charging,
  respond: (query: unknown, exchange: Exchange) => Promise<unknown>,
): Handler {
  return async (request, reply) => {
    const exchange = { request, reply };
    const query = await endpoint.read(request);
    const release = await charging.openStream(exchange);
    try {
      return await respond(query, exchange);
    } finally {
      release();
    }
  };
}

/** A query that fails on our side is refunded. */
async function respondCharged(
  endpoint: Endpoint,
  query: unknown,
  exchange: Exchange,
  charging: Charging,
  options: ResponseOptions,
): Promise<unknown> {
  const charge = await charging.chargeQuery(exchange, endpoint.weight?.(query) ?? 1);
  try {
    return await endpoint.respond(query, exchange, options, charging);
  } catch (error) {
    if (isOurFault(error)) await charging.refund(charge);
    throw error;
  }
}
