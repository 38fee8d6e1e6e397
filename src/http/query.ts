import type { FastifyRequest } from 'fastify';
import { MAX_INTEGER } from '../contract/scalars.ts';
import { AppError } from '../core/errors.ts';
import { type Window, windowOf as windowBetween } from '../core/window.ts';

/** A query string as the router parses it: a parameter that was sent twice is a list. */
type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

const DECIMAL = /^(?:0|[1-9]\d{0,15})$/; // 2^53-1 has sixteen digits

/** A decimal integer without sign or leading zeros, or null for any other text. */
export function parseDecimal(text: string, min: number): number | null {
  if (!DECIMAL.test(text)) return null;
  const value = Number(text);
  return value >= min && value <= MAX_INTEGER ? value : null;
}

export const queryOf = (request: FastifyRequest): Query => request.query as Query;

export function windowOf(query: Query, now: number): Window {
  const window = windowBetween(integerParameter(query, 'since', 0), integerParameter(query, 'until', 0), now);
  if (window === null) throw new AppError('bad_request', '"since" must not be after "until"');
  return window;
}

export function limitOf(query: Query): number | undefined {
  return integerParameter(query, 'limit', 1);
}

/** `?verbose`, `?verbose=1`; the unknown is refused as everywhere. */
export function switchOf(query: Query, name: string): boolean {
  const sent = query[name];
  if (sent === undefined || sent === '0' || sent === 'false') return false;
  if (sent === '' || sent === '1' || sent === 'true') return true;
  throw new AppError('bad_request', `"${name}" must be sent once, alone or as true or false`);
}

function integerParameter(query: Query, name: string, min: number): number | undefined {
  const sent = query[name];
  if (sent === undefined) return undefined;
  if (typeof sent !== 'string') throw new AppError('bad_request', `"${name}" must be sent once`);
  const value = parseDecimal(sent, min);
  if (value === null)
    throw new AppError('bad_request', `"${name}" must be a decimal integer, ${min} to ${MAX_INTEGER}`);
  return value;
}
