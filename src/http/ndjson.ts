import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setImmediate as nextIteration } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { queryTimedOut, unlessAborted } from './budget.ts';
import type { AnswerOptions, Exchange } from './endpoint.ts';
import { isOurFault } from './errors.ts';
import { requestFields } from './request-log.ts';
import { createStallTimer } from './stall-timer.ts';
import { resetConnection } from './tls.ts';

export const NDJSON = 'application/x-ndjson';

/**
 * Characters in one write to the socket. The next piece is written when the kernel has taken this one. A reader that
 * takes less than a piece in `stallMs` counts as stalled: kernels move their windows in steps of this size.
 */
const PIECE_CHARACTERS = 16 * 1024;

/** Pages of whole lines, none of them empty. Ends by throwing when the signal is aborted. */
type NdjsonSource = (signal: AbortSignal) => AsyncIterable<string>;

/** Reasons for which a stream is aborted without an error in the log. */
const READER_LEFT = new Error('The reader has left');
const READER_STALLED = new Error('The reader has stalled');

/**
 * Answers with a stream of lines, also of another type whose pieces may end after any line. The first page is read before the headers are sent, so that the answer can still be
 * "not found" or "timed out". Fastify's `reply.send(readable)` sends the headers first, reads ahead of the socket and
 * cannot detect a stalled reader.
 */
export async function sendNdjson(
  { request, reply }: Exchange,
  source: NdjsonSource,
  options: AnswerOptions,
  contentType: string = NDJSON,
): Promise<FastifyReply> {
  const stop = new AbortController();
  const { socket } = request.raw;
  const pages = source(stop.signal)[Symbol.asyncIterator]();
  // Not the 'close' of the response: a pipelined response that waits for another one never gets it.
  const leave = () => stop.abort(READER_LEFT);
  if (socket.destroyed) leave();
  else socket.once('close', leave);
  try {
    const first = await firstPage(pages, stop, options.queryBudgetMs);
    if (first === null) return reply.type(contentType).send();
    reply.hijack();
    reply.type(contentType).raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders);
    options.recordFirst?.(reply.elapsedTime / 1000);
    if (request.method !== 'HEAD') await pump(reply.raw, first, pages, stop, options.stallMs);
    reply.raw.end();
  } catch (error) {
    if (!reply.raw.headersSent && error !== READER_LEFT) throw error;
    breakOff(request, reply, error, options);
  } finally {
    socket.off('close', leave);
    stop.abort(READER_LEFT); // stops the query in the store
    pages.return?.().catch(() => {});
  }
  return reply;
}

/**
 * Never a clean end: the missing last chunk shows the client that the answer is incomplete (RFC 9112 §8). HTTP/1.0 has
 * no chunks, and a close would look like the end of the body, so the connection is reset.
 */
function breakOff(
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  { reportFailure }: AnswerOptions,
): void {
  reply.hijack();
  if (request.raw.httpVersion === '1.0') resetConnection(request.raw.socket);
  else reply.raw.destroy();
  if (error === READER_LEFT || error === READER_STALLED || !isOurFault(error) || reportFailure(error)) return;
  request.log.error({ err: error, ...requestFields(request, reply.raw.statusCode) }, 'a stream broke');
}

/** Null when there is no page. */
async function firstPage(
  pages: AsyncIterator<string>,
  stop: AbortController,
  budgetMs: number,
): Promise<string | null> {
  const timer = setTimeout(() => stop.abort(queryTimedOut()), budgetMs);
  try {
    const first = await unlessAborted(pages.next(), stop.signal);
    return first.done ? null : first.value;
  } finally {
    clearTimeout(timer);
  }
}

/** Reads the next page when the previous one is written and the event loop has served other requests. */
async function pump(
  response: ServerResponse,
  first: string,
  pages: AsyncIterator<string>,
  stop: AbortController,
  stallMs: number,
): Promise<void> {
  for (let page = first; ; ) {
    for (const piece of pieces(page)) await write(response, piece, stop, stallMs);
    await nextIteration();
    const next = await unlessAborted(pages.next(), stop.signal);
    if (next.done) return;
    page = next.value;
  }
}

/** Cuts between lines, because a cut inside a surrogate pair would break the character. */
function* pieces(page: string): Generator<string> {
  for (let start = 0; start < page.length; ) {
    const end = page.indexOf('\n', start + PIECE_CHARACTERS) + 1 || page.length;
    yield page.slice(start, end);
    start = end;
  }
}

/** Resolves when the kernel has the bytes, which is never earlier than 'drain'. */
async function write(response: ServerResponse, piece: string, stop: AbortController, stallMs: number): Promise<void> {
  const stalled = createStallTimer(stallMs, () => {
    // A pipelined response that waits for the one before it has no socket yet, so its reader cannot stall.
    if (response.socket === null) stalled.refresh();
    else stop.abort(READER_STALLED);
  });
  const written = new Promise<void>((resolve, reject) => {
    response.write(piece, 'utf8', (error) => (error ? reject(READER_LEFT) : resolve()));
  });
  try {
    await unlessAborted(written, stop.signal);
  } finally {
    stalled.stop();
  }
}

/** Records as lines, by the serializer that Fastify compiled from the response schema of the route. */
export async function* linesOf<T>(
  reply: FastifyReply,
  pages: AsyncIterable<T[]>,
  present: (record: T) => object,
): AsyncGenerator<string, void, void> {
  const serialize = reply.getSerializationFunction('200', NDJSON);
  if (serialize === undefined) throw new Error(`no ${NDJSON} schema for ${reply.routeOptions.url}`);
  const line = (record: T) => `${serialize(present(record) as Record<string, unknown>)}\n`;
  for await (const page of pages) yield page.map(line).join('');
}

/** The same pages. If there are none, `check` runs and may throw. */
export async function* checkIfEmpty(pages: AsyncIterable<string>, check: () => Promise<void>): AsyncGenerator<string> {
  let isEmpty = true;
  for await (const page of pages) {
    isEmpty = false;
    yield page;
  }
  if (isEmpty) await check();
}
