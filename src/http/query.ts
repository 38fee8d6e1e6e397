import type { FastifyRequest } from 'fastify';
import { badRequest } from '../core/errors.ts';
import { type TimeWindow, timeWindow } from '../core/time.ts';
import type { Parameter } from './endpoint.ts';
import { MAX_INTEGER, Timestamp } from './scalars.ts';
import { Type } from './schema.ts';

/** A query string as the router parses it: a parameter that is sent twice is a list. */
type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

const DECIMAL = /^(?:0|[1-9]\d{0,15})$/; // 2^53-1 has sixteen digits

/** A decimal integer without sign or leading zeros, or null for any other text. */
export function parseDecimal(text: string, min: number): number | null {
  if (!DECIMAL.test(text)) return null;
  const value = Number(text);
  return value >= min && value <= MAX_INTEGER ? value : null;
}

export const queryString = (request: FastifyRequest): Query => request.query as Query;

export function readWindow(query: Query, now: number): TimeWindow {
  return inOrder(timeWindow(integerParameter(query, 'since', 0), integerParameter(query, 'until', 0), now));
}

/** The same without defaults: a side that was not sent is open. */
export function readOpenWindow(query: Query): TimeWindow {
  const since = integerParameter(query, 'since', 0) ?? 0;
  const until = integerParameter(query, 'until', 0) ?? MAX_INTEGER;
  return inOrder(since <= until ? { since, until } : null);
}

function inOrder(window: TimeWindow | null): TimeWindow {
  if (window === null) throw badRequest('"since" must not be after "until"');
  return window;
}

export function readLimit(query: Query, max: number = MAX_INTEGER): number | undefined {
  return integerParameter(query, 'limit', 1, max);
}

/** Reads a switch such as `?verbose`, `?verbose=1` or `?verbose=true`. Other values are refused. */
export function readSwitch(query: Query, name: string): boolean {
  const sent = query[name];
  if (sent === undefined || sent === '0' || sent === 'false') return false;
  if (sent === '' || sent === '1' || sent === 'true') return true;
  throw badRequest(`"${name}" must be sent once, without a value or with true or false`);
}

export function integerParameter(query: Query, name: string, min: number, max = MAX_INTEGER): number | undefined {
  const sent = query[name];
  if (sent === undefined) return undefined;
  if (typeof sent !== 'string') throw sentTwice(name);
  const value = parseDecimal(sent, min);
  if (value === null || value > max) {
    throw badRequest(`"${name}" must be a decimal integer, ${min} to ${max}`);
  }
  return value;
}

/** A parameter that must be one of these words. */
export function wordParameter<const Word extends string>(
  query: Query,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const sent = query[name];
  if (sent === undefined) return undefined;
  if (typeof sent !== 'string') throw sentTwice(name);
  const word = words.find((candidate) => candidate === sent);
  if (word === undefined) throw badRequest(`"${name}" must be one of ${words.join(', ')}`);
  return word;
}

const sentTwice = (name: string) => badRequest(`"${name}" must be sent once`);

// The same parameters for the OpenAPI document.

export const sinceParameter: Parameter = {
  in: 'query',
  name: 'since',
  schema: Timestamp,
  description: 'Records with ts greater than or equal to this. Default: 12 months before now.',
};

export const untilParameter: Parameter = {
  in: 'query',
  name: 'until',
  schema: Timestamp,
  description: 'Records with ts less than or equal to this. Default: now.',
};

export const verboseParameter: Parameter = {
  in: 'query',
  name: 'verbose',
  schema: Type.Enum(['', '1', 'true', '0', 'false']),
  description: 'Include the state of the feeds, of the rows and of the limits.',
};

export const limitParameter = (defaultLimit?: number, maximum: number = MAX_INTEGER): Parameter => ({
  in: 'query',
  name: 'limit',
  schema: Type.Integer({ minimum: 1, maximum, ...(defaultLimit !== undefined && { default: defaultLimit }) }),
  description: 'Maximum number of records.',
});
