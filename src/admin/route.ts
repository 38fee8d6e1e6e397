import type { FastifyReply, FastifyRequest } from 'fastify';
import { badRequest } from '../core/errors.ts';
import type { Endpoint, Exchange, Parameter, ResponseOptions, Route } from '../http/endpoint.ts';
import { JSON_TYPE } from '../http/errors.ts';
import { sendNdjson } from '../http/ndjson.ts';
import { queryString } from '../http/query.ts';
import { Type } from '../http/schema.ts';

export function adminRoute<Query>(endpoint: Endpoint<Query>): Route {
  return { endpoint, access: 'administrator', charge: 'call' };
}

/** The body of a change that needs no values. */
export const Nothing = Type.Closed({});

export const pathParameter = (name: string, description: string): Parameter => ({
  in: 'path',
  name,
  schema: Type.String(),
  description,
});

export function pathText(request: FastifyRequest, name: string): string {
  return storable(name, (request.params as Record<string, string>)[name] ?? '');
}

/** A parameter of the query string that is a text; null if it was not sent, or is empty. */
export function queryText(request: FastifyRequest, name: string): string | null {
  const sent = queryString(request)[name];
  if (sent === undefined || sent === '') return null;
  if (typeof sent === 'string') return storable(name, sent);
  throw badRequest(`"${name}" must be sent once`);
}

export function textParameter(name: string, description: string): Parameter {
  return { in: 'query', name, schema: Type.String(), description };
}

/** A PostgreSQL text cannot contain a zero character; no name has one. */
function storable(name: string, text: string): string {
  if (text.includes('\0')) throw badRequest(`"${name}" must not contain a zero character`);
  return text;
}

/**
 * `{"items":[…]}`, a page at a time: the items of 100,000 accounts are 19 MB of text. Made at once, it kept the event loop busy
 * for 0.2 s on PostgreSQL.
 */
export function sendItems(
  exchange: Exchange,
  pages: AsyncIterable<object[]>,
  options: ResponseOptions,
): Promise<FastifyReply> {
  return sendNdjson(exchange, () => itemsJson(pages), { ...options, queryBudgetMs: BUDGET_MS }, JSON_TYPE);
}

/** Until the first page: the usage of all accounts is counted before. */
const BUDGET_MS = 60_000;

async function* itemsJson(pages: AsyncIterable<object[]>): AsyncGenerator<string> {
  let before = '{"items":[';
  for await (const page of pages) {
    yield before + page.map((item) => JSON.stringify(item)).join();
    before = ',';
  }
  yield before === ',' ? ']}' : `${before}]}`;
}
