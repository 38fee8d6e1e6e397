import type { FastifyReply } from 'fastify';
import { AppError, type ErrorCode } from '../core/errors.ts';
import { http } from '../core/node-http.ts';
import { REQUEST_ID_HEADER } from './request-id.ts';
import { type Static, Type } from './schema.ts';

/** The only place with HTTP status numbers. */
const STATUS: Record<ErrorCode | 'internal', number> = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  timed_out: 408,
  conflict: 409,
  gone: 410,
  body_too_large: 413,
  expectation_failed: 417,
  limit_reached: 429,
  headers_too_large: 431,
  internal: 500,
  damaged: 503,
  not_ready: 503,
  overloaded: 503,
  unavailable: 503,
};

/** The content type of a response that is text already, so that Fastify does not serialize it. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Of every response but those to lookups, unless its route sets others. No browser and no cache on the way keeps it
 * (RFC 9111 §5.2.2.5): it belongs to one account, and later the response may be another one. No page shows it in a frame or
 * runs it.
 */
export const DEFAULT_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

/** The Retry-After of a 503 whose error has none: long enough to reduce the load, short enough for a restart. */
const RETRY_AFTER_SECONDS = 5;

/** An error response, the same from every layer. */
type WireError = { status: number; headers: Record<string, string>; body: ErrorBody };

export const statusOf = (code: ErrorCode | 'internal'): number => STATUS[code];

export function wireError(error: unknown): WireError {
  const refusal = refusalOf(error);
  const status = STATUS[refusal.code];
  return {
    status,
    headers: { ...DEFAULT_HEADERS, ...headersOf(refusal) },
    body: { code: status, message: refusal.message },
  };
}

/**
 * Responds to a lookup with JSON text; null: nothing was found. That is the most frequent response, because most of what is looked up
 * is harmless. It is not thrown: Fastify's error path costs 50 µs more.
 */
export function createLookupResponder(notFound: string) {
  const { status, body } = wireError(new AppError('not_found', notFound));
  const notFoundJson = JSON.stringify(body);
  return (reply: FastifyReply, json: string | Buffer | null): string | Buffer => {
    reply.type(JSON_TYPE);
    if (json !== null) return json;
    reply.code(status);
    return notFoundJson;
  };
}

/** Whether the server failed or took too long. Such a query is not charged. */
export function isOurFault(error: unknown): boolean {
  const { code } = refusalOf(error);
  return code === 'timed_out' || STATUS[code] >= 500;
}

/** The bytes of an error response, for a socket without a response object. The connection closes after it. */
export function wireErrorBytes(error: unknown, requestId: string): string {
  const { status, headers, body } = wireError(error);
  const json = JSON.stringify(body);
  const head = Object.entries({
    ...headers,
    [REQUEST_ID_HEADER]: requestId,
    Connection: 'close',
    'Content-Type': JSON_TYPE,
    'Content-Length': Buffer.byteLength(json),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${head.join('')}\r\n${json}`;
}

type Refusal = {
  code: ErrorCode | 'internal';
  message: string;
  retryAfterSeconds?: number | undefined;
  challenge?: string | undefined;
};

/** Any error but an AppError is a defect. Its message, and that of a 503, may reveal internals and is not sent. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof AppError) {
    if (STATUS[error.code] < 500 || error.code === 'not_ready') return error;
    const message = 'The service is not available at the moment; try again later';
    return { code: error.code, message, retryAfterSeconds: error.retryAfterSeconds };
  }
  return refusalOfFastify(error) ?? { code: 'internal', message: 'Internal server error' };
}

/** Fastify sets a status number on errors of the client. Its messages name parts of Fastify, so ours replace them. */
function refusalOfFastify(error: unknown): Refusal | null {
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown };
  if (code === 'FST_ERR_BAD_URL' || code === 'FST_ERR_MAX_PARAM_LENGTH') return unknownPath();
  if (statusCode === STATUS.body_too_large) return bodyTooLarge();
  if (typeof statusCode !== 'number' || statusCode < 400 || statusCode > 499) return null;
  return { code: 'bad_request', message: 'The request is incomplete' };
}

function headersOf({ code, retryAfterSeconds, challenge }: Refusal): Record<string, string> {
  if (code === 'unauthorized') return { 'WWW-Authenticate': challenge ?? 'Bearer' }; // RFC 6750 §3
  if (STATUS[code] === 503) return { 'Retry-After': String(retryAfterSeconds ?? RETRY_AFTER_SECONDS) };
  if (code === 'limit_reached' && retryAfterSeconds !== undefined) return { 'Retry-After': String(retryAfterSeconds) };
  return {};
}

export const unknownPath = (reason?: string): AppError =>
  new AppError('not_found', `This path does not exist${reason === undefined ? '' : `: ${reason}`}`);
export const bodyTooLarge = (): AppError => new AppError('body_too_large', 'The body is larger than 64 KiB');

/** The body of every error response. `code` is the HTTP status. */
export const ErrorBody = Type.Object({ code: Type.Integer(), message: Type.String() });
export type ErrorBody = Static<typeof ErrorBody>;
