import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { budgetSpent, unlessAborted } from './budget.ts';
import type { Exchange } from './exchange.ts';

export const NDJSON = 'application/x-ndjson';

/**
 * So much is handed to the socket at once, and it must have left before more is made. It is also the measure of a
 * reader who takes something: kernels move their windows in steps of this order, so less cannot be told from nothing.
 */
const PIECE_CHARACTERS = 16 * 1024;

export type NdjsonTimes = {
  /** Until the first record is found. */
  queryBudgetMs: number;
  /** Until a reader has taken a piece. */
  stallMs: number;
};

export type NdjsonSource = {
  /** Pages of whole lines, none of them empty; ends by throwing when the signal is aborted. */
  open(signal: AbortSignal): AsyncIterable<string>;
  /** Throws when having no record means that the thing asked for is not there. */
  whenEmpty(): Promise<void>;
};

/** Why a stream is given up without anyone being told: nobody is listening. */
const READER_LEFT = new Error('The reader is gone');
const READER_STALLED = new Error('The reader takes nothing');

/**
 * Answers with a stream of lines. The first page is there before the headers are sent, so that "not found" and "took
 * too long" can still be said. An own pump, because `reply.send(readable)` sends headers first, reads ahead of the
 * socket, and gives no hold on a reader who takes nothing.
 */
export async function sendNdjson(
  { request, reply }: Exchange,
  source: NdjsonSource,
  times: NdjsonTimes,
): Promise<FastifyReply> {
  const stop = new AbortController();
  const { socket } = request.raw;
  const pages = source.open(stop.signal)[Symbol.asyncIterator]();
  // Not the response's own 'close': one that waits behind another on the same connection never gets it.
  const leave = () => stop.abort(READER_LEFT);
  if (socket.destroyed) leave();
  else socket.once('close', leave);
  try {
    const first = await firstPage(pages, source, stop, times.queryBudgetMs);
    if (first === null) return reply.type(NDJSON).send();
    reply.hijack();
    reply.type(NDJSON).raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders);
    if (request.method !== 'HEAD') await pump(reply.raw, first, pages, stop, times.stallMs);
    reply.raw.end();
  } catch (error) {
    if (!reply.raw.headersSent && error !== READER_LEFT) throw error;
    breakOff(request, reply, error);
  } finally {
    socket.off('close', leave);
    stop.abort(READER_LEFT); // whatever the store still does for this stream is in vain
    pages.return?.().catch(() => {});
  }
  return reply;
}

/**
 * Never a clean end: the missing last chunk tells the client that there should have been more (RFC 9112 §8). HTTP/1.0
 * has no chunks, and there a close is the end of the body: only a reset is none.
 */
function breakOff(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
  reply.hijack();
  if (request.raw.httpVersion === '1.0') request.raw.socket.resetAndDestroy();
  else reply.raw.destroy();
  if (error === READER_LEFT || error === READER_STALLED) return;
  request.log.error({ err: error, route: request.routeOptions.url, reqId: request.id }, 'a stream broke half way');
}

/** null: there is nothing to tell of something that is there. */
async function firstPage(
  pages: AsyncIterator<string>,
  source: NdjsonSource,
  stop: AbortController,
  budgetMs: number,
): Promise<string | null> {
  const timer = setTimeout(() => stop.abort(budgetSpent()), budgetMs);
  try {
    const first = await unlessAborted(pages.next(), stop.signal);
    if (!first.done) return first.value;
    await unlessAborted(source.whenEmpty(), stop.signal);
    return null;
  } finally {
    clearTimeout(timer);
  }
}

/** A page is asked for when the one before has left, and after the event loop had a turn for everyone else. */
async function pump(
  response: ServerResponse,
  first: string,
  pages: AsyncIterator<string>,
  stop: AbortController,
  stallMs: number,
): Promise<void> {
  for (let page = first; ; ) {
    for (const piece of pieces(page)) await write(response, piece, stop, stallMs);
    await nextTurn();
    const next = await unlessAborted(pages.next(), stop.signal);
    if (next.done) return;
    page = next.value;
  }
}

/** Cut between lines: a cut inside a character of two halves would spoil it. */
function* pieces(page: string): Generator<string> {
  for (let start = 0; start < page.length; ) {
    const end = page.indexOf('\n', start + PIECE_CHARACTERS) + 1 || page.length;
    yield page.slice(start, end);
    start = end;
  }
}

/** Resolves when the bytes are with the kernel: that is later than 'drain' may be, never earlier. */
async function write(response: ServerResponse, piece: string, stop: AbortController, stallMs: number): Promise<void> {
  const timer = setTimeout(() => {
    // A response that waits for the one before it on the same connection has no socket yet, and no reader to blame.
    if (response.socket === null) timer.refresh();
    else stop.abort(READER_STALLED);
  }, stallMs);
  const written = new Promise<void>((resolve, reject) => {
    response.write(piece, 'utf8', (error) => (error ? reject(READER_LEFT) : resolve()));
  });
  try {
    await unlessAborted(written, stop.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Records as lines, by the serializer that Fastify made from the response schema of the route. */
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
