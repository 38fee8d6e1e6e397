import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorCode } from '../core/errors.ts';
import type { Limits } from '../core/tier.ts';
import type { Schema } from './schema.ts';

// How a feature describes its endpoints to the server.

/** Time limits for one response. */
export type ResponseTimes = {
  /** Until the response, or the first record of a stream, is found. */
  queryBudgetMs: number;
  /** Until the client has read the next piece of a stream. */
  stallMs: number;
};

export type ResponseOptions = ResponseTimes & {
  /** Reports a failure of the server. Returns true if it belongs to an outage, which is logged as a whole. */
  reportFailure(error: unknown): boolean;
  /** For metrics: how long it took until the first record of a stream was found. */
  recordFirst?: ((seconds: number) => void) | undefined;
};

export type Exchange = { request: FastifyRequest; reply: FastifyReply };

/** What was charged for one query, or for one step of a request that is charged in steps. */
export type Charge = { sub: string; weight: number; ts: number };

/** For an endpoint that learns what to charge while it responds. */
export type StepCharging = {
  /**
   * Counts 1 to `wanted` queries, as many as the limits of the account have left. Throws `limit_reached` if nothing is
   * left.
   */
  chargeStep(exchange: Exchange, wanted: number): Promise<Charge>;
  /** Subtracts what was charged from its day and its month. */
  refund(charge: Charge): Promise<void>;
};

/** Who sent a request, and what that account may do. */
export type Caller = {
  account: { sub: string; username: string; tier: string; isAdmin: boolean };
  limits: Limits;
  /** Absent if the caller sent a token. */
  session?: CallerSession;
};

/** `expiresTs`: if it is not used before. */
export type CallerSession = { id: string; createdTs: number; expiresTs: number };

export type Parameter = {
  in: 'path' | 'query';
  name: string;
  schema: Schema;
  description: string;
  /** For a path parameter: a request with any other text in its place gets 404, because that path does not exist. */
  isValid?(text: string): boolean;
};

/**
 * One endpoint: its shapes, and its response in two steps. A query is charged between `read` and `respond`, so that a bad
 * request costs nothing.
 */
export type Endpoint<Query = unknown> = {
  method: 'GET' | 'POST';
  path: string;
  operationId: string;
  summary: string;
  parameters?: readonly Parameter[];
  /** `stream`: bytes of any content type, not held in memory. `respond` reads `request.raw` and limits its size. */
  body?: Schema | 'stream';
  /** For OpenAPI: the content types of a stream, each with the schema of one line. */
  bodyTypes?: Readonly<Record<string, Schema>>;
  /**
   * The successful response, of any content type. In NDJSON the schema describes one line. Without a schema the body
   * is sent as it is. With an ETag (`etag.ts`) the response may also be 304. `respond` sets one of `otherTypes` itself,
   * where the request asks for it.
   */
  response: { contentType: string; otherTypes?: readonly string[]; schema?: Schema; hasEtag?: true };
  /** Errors of this endpoint beyond those that every endpoint has. */
  refusals?: readonly ErrorCode[];
  /** Reads the query from the request. Throws if the request is wrong; a promise if only the store shows that. */
  read(request: FastifyRequest): Query | Promise<Query>;
  /** How many queries it counts as. Default: 1. */
  weight?(query: Query): number;
  respond(query: Query, exchange: Exchange, options: ResponseOptions, charging: StepCharging): Promise<unknown>;
};

export type Route = {
  endpoint: Endpoint;
  /**
   * Who may send requests: `open` everyone, `account` every account, `administrator` those who are one, or accounts whose
   * tier has this dataset.
   */
  access: 'open' | 'account' | 'administrator' | { dataset: string };
  /** Finds the caller of a request with credentials of its own kind; null: the request has none of them. */
  findCaller?(request: FastifyRequest): Promise<Caller> | null;
  /**
   * `query`: counts against the limits of the account. `steps`: a stream that charges queries itself while it is sent.
   * `own`: charges a query itself, or none. `call`: limited per second, not a query. `none`: free.
   */
  charge: 'query' | 'steps' | 'own' | 'call' | 'none';
  /** No browser sends it: it goes without the headers for browsers. One of them takes 10 of the 77 µs of a lookup under load. */
  isForPrograms?: true;
  /** A page for people, which OpenAPI does not describe. */
  isHidden?: true;
};

/** The response of an endpoint that returns one JSON value. */
export const json = <S extends Schema>(schema: S) => ({ contentType: 'application/json', schema });
