import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { Login } from '../accounts/login.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { Counters } from '../limits/counters.ts';
import type { Feed } from '../store/control.ts';
import type { Store } from '../store/store.ts';
import type { Exchange } from './exchange.ts';
import type { Authenticate } from './hooks/authenticate.ts';
import type { NdjsonTimes } from './ndjson.ts';

/** What the server is given; it opens and closes none of it, so that several may share them. */
export type Services = {
  store: Store;
  /** Unix seconds. */
  now(): number;
  authenticate: Authenticate;
  counters: Counters;
  /** Where queries are counted in Redis: whether they are now, or on this node, or not at all and so refused. */
  countedWhere?(): 'shared' | 'local' | 'refused';
  login: Login;
  feeds(): Promise<Feed[]>;
};

/** What a handler may reach for. */
export type EndpointContext = {
  services: Services;
  times: NdjsonTimes;
  /** How many streams each account has open here. */
  openStreams: Map<string, number>;
  /** The OpenAPI document of this server. */
  openapi: unknown;
};

export type Parameter = { in: 'path' | 'query'; name: string; schema: TSchema; description: string };

/**
 * One endpoint: its shapes, and how it answers, in two steps, because a query is counted between them: what is wrong
 * with a request costs nothing. Whether it needs a token and how it is metered stands in `routes.ts`.
 */
export type Endpoint<Question = unknown> = {
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
  /** What is asked, in the words of the code. Throws what is wrong with the request. */
  read(request: FastifyRequest, context: EndpointContext): Question;
  /** How many queries it counts as, where that is not one. */
  weight?(question: Question): number;
  answer(question: Question, context: EndpointContext, exchange: Exchange): Promise<unknown>;
};
