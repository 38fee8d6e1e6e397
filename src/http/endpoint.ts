import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { ErrorCode } from '../core/errors.ts';
import type { Store } from '../store/store.ts';
import type { Authenticate } from './hooks/authenticate.ts';
import type { NdjsonTimes } from './ndjson.ts';

/** What the server is given; it opens and closes none of it, so that several may share them. */
export type Services = {
  store: Store;
  /** Unix seconds. */
  now(): number;
  authenticate: Authenticate;
};

/** What a handler may reach for. */
export type EndpointContext = {
  services: Services;
  times: NdjsonTimes;
  /** The OpenAPI document of this server. */
  openapi: unknown;
};

export type Parameter = { in: 'path' | 'query'; name: string; schema: TSchema; description: string };

/** One endpoint: its shapes, and how it answers. Whether it needs a token stands in `routes.ts`. */
export type Endpoint = {
  method: 'GET' | 'POST';
  path: string;
  operationId: string;
  summary: string;
  parameters?: readonly Parameter[];
  body?: TSchema;
  /** The success. A stream has one such value on every line. */
  response: { contentType: 'application/json' | 'application/x-ndjson'; schema: TSchema };
  /** What this endpoint refuses beyond what every endpoint does. */
  refusals: readonly ErrorCode[];
  handler(context: EndpointContext): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
};
