import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { badRequest } from '../core/errors.ts';
import { allowLongBody } from './connection.ts';
import type { Exchange } from './endpoint.ts';

export const MAX_BODY_BYTES = 64 * 1024;

const EMPTY_BODY = 'The body is empty; send a JSON object';

/** The content type whose parser passes the bytes on. */
export const STREAM_TYPE = 'application/octet-stream';

/**
 * The last step before the body is read. Every body is parsed as JSON: clients send any content type (`curl -d`), or none,
 * and Fastify would refuse a malformed one.
 */
export function prepareBody({ raw }: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
  raw.headers['content-type'] = 'application/json';
  if (raw.headers.expect !== undefined && isWanted(raw)) reply.raw.writeContinue();
  // Node ends a request without a length before it gets here, and Fastify would wait for that end for ever.
  done(raw.readableEnded ? badRequest(EMPTY_BODY) : undefined);
}

/** The same for a body that is read as a stream. Its endpoint sends the 100, after its own checks. */
export function prepareStream({ raw }: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction): void {
  raw.headers['content-type'] = STREAM_TYPE;
  allowLongBody(raw);
  done();
}

/** To be called just before a stream is read, for a client that waits with its body (RFC 9110 §10.1.1). */
export function sendContinue({ request: { raw }, reply }: Exchange): void {
  if (raw.headers.expect !== undefined && raw.httpVersion === '1.1') reply.raw.writeContinue();
}

/** The content type that the client sent, in lower case and without parameters. `prepareStream` replaces the header. */
export function sentContentType({ rawHeaders }: IncomingMessage): string | null {
  const at = rawHeaders.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === 'content-type');
  const [type = ''] = at === -1 ? [] : (rawHeaders[at + 1] ?? '').split(';');
  return type.trim().toLowerCase() || null;
}

/** How long a client may go on sending a body that nobody reads any more: as long as any other request may take. */
const DISCARD_MS = 30_000;

/** Discards what is left of a body, because many clients read the response only after they have sent everything. */
export function discardRest(raw: IncomingMessage, withinMs = DISCARD_MS): void {
  if (raw.readableEnded || raw.destroyed) return;
  // Node emits no `close` for a request that has its response, so the timer of a client that has gone would run on.
  const timer = setTimeout(() => raw.destroy(), withinMs).unref();
  const stop = () => clearTimeout(timer);
  raw.once('end', stop).once('close', stop).resume();
}

/**
 * Whether a client that sent `Expect: 100-continue` should send the body (RFC 9110 §10.1.1). A client that is refused for
 * its head gets no 100: it would send the body, which could then be read as the next request.
 */
function isWanted({ headers, httpVersion, readableEnded }: IncomingMessage): boolean {
  return httpVersion === '1.1' && !readableEnded && !(Number(headers['content-length']) > MAX_BODY_BYTES);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The body must be strict UTF-8: with replacement characters, two different queries could become equal. */
export function parseJson(
  request: FastifyRequest,
  bytes: Buffer,
  done: (error: Error | null, body?: unknown) => void,
): void {
  let body: unknown;
  let refusal: Error | null = null;
  try {
    body = JSON.parse(UTF8.decode(bytes));
  } catch (error) {
    refusal = badRequest(parseMessage(request, bytes, error));
  }
  done(refusal, body);
}

function parseMessage({ headers }: FastifyRequest, bytes: Buffer, error: unknown): string {
  if (bytes.length === 0) return EMPTY_BODY;
  const { 'content-encoding': encoding = 'identity' } = headers;
  if (encoding !== 'identity') return 'A body with Content-Encoding is not supported here';
  return `The body is not valid ${error instanceof SyntaxError ? 'JSON' : 'UTF-8'}`;
}
