import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setImmediate as nextIteration } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { queryTimedOut, unlessAborted } from './budget.ts';
import { acceptsIdentity, bestEncoding, type Compressor, createCompressor, type Encoding } from './encoding.ts';
import type { Exchange, ResponseOptions } from './endpoint.ts';
import { isOurFault } from './errors.ts';
import { requestFields } from './request-log.ts';
import { createStallTimer } from './stall-timer.ts';
import { resetConnection } from './tls.ts';

export const NDJSON = 'application/x-ndjson';

/**
 * The most that is written to the socket at once; the rest follows when the kernel has taken it. A reader that takes less in
 * `stallMs` counts as stalled. With 16 KiB a stream took a tenth more processor time, and its reader twice as much.
 */
const PIECE_BYTES = 64 * 1024;

/** A response that fits into one packet anyway is not compressed. What begins shorter is rarely long. */
const MIN_COMPRESSED_CHARACTERS = 1_000;

/** Pages of whole lines, none of them empty. Ends by throwing when the signal is aborted. */
type NdjsonSource = (signal: AbortSignal) => AsyncIterable<string>;

/** Reasons for which a stream is aborted without an error in the log. */
const READER_LEFT = new Error('The reader has left');
const READER_STALLED = new Error('The reader has stalled');

/**
 * Responds with a stream of lines. Content of another type is never compressed. The first page is read before the headers
 * are sent, so that the response can still be "not found" or "timed out". Fastify's `reply.send(readable)` sends the headers
 * first, reads ahead of the socket and cannot detect a stalled reader.
 */
export async function sendNdjson(
  { request, reply }: Exchange,
  source: NdjsonSource,
  options: ResponseOptions,
  contentType: string = NDJSON,
): Promise<FastifyReply> {
  const stop = new AbortController();
  const { socket } = request.raw;
  const pages = source(stop.signal)[Symbol.asyncIterator]();
  // Not the 'close' of the response: a pipelined response that waits for another one never gets it. A client that closes
  // only its side counts as gone: if nothing is written, nothing else shows that it has left.
  const leave = () => stop.abort(READER_LEFT);
  if (socket.destroyed || socket.readableEnded) leave();
  else socket.once('end', leave).once('close', leave);
  try {
    const first = await firstPage(pages, stop, options.queryBudgetMs);
    reply.type(contentType);
    if (contentType === NDJSON) reply.header('vary', 'accept-encoding');
    if (first === null) return reply.send();
    const encoding = contentType === NDJSON ? encodingOf(request, first) : 'identity';
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    reply.hijack();
    reply.raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders);
    options.recordFirst?.(reply.elapsedTime / 1000);
    if (request.method !== 'HEAD') {
      const send = (bytes: string | Buffer) => sendPieces(reply.raw, bytes, stop, options.stallMs);
      if (encoding === 'identity') await pump(send, first, pages, stop);
      else await pumpCompressed(createCompressor(encoding), send, first, pages, stop);
    }
    reply.raw.end();
  } catch (error) {
    if (!reply.raw.headersSent && error !== READER_LEFT) throw error;
    breakOff(request, reply, error, options);
  } finally {
    socket.off('end', leave).off('close', leave);
    stop.abort(READER_LEFT); // stops the query in the store
    pages.return?.().catch(() => {});
  }
  return reply;
}

/**
 * Never a clean end: the missing last chunk shows the client that the response is incomplete (RFC 9112 §8). HTTP/1.0 has
 * no chunks, and a close would look like the end of the body, so the connection is reset.
 */
function breakOff(
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  { reportFailure }: ResponseOptions,
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

function encodingOf(request: FastifyRequest, first: string): Encoding {
  const accepted = request.headers['accept-encoding'];
  return first.length < MIN_COMPRESSED_CHARACTERS && acceptsIdentity(accepted) ? 'identity' : bestEncoding(accepted);
}

/** Reads the next page when the previous one is sent and the event loop has served other requests. */
async function pump(
  send: (page: string) => Promise<void>,
  first: string,
  pages: AsyncIterator<string>,
  stop: AbortController,
): Promise<void> {
  for (let page = first; ; ) {
    await send(page);
    await nextIteration();
    const next = await unlessAborted(pages.next(), stop.signal);
    if (next.done) return;
    page = next.value;
  }
}

/** The same, but while a page is compressed and sent, the next one is read, and waits. */
async function pumpCompressed(
  compressor: Compressor,
  send: (bytes: Buffer) => Promise<void>,
  first: string,
  pages: AsyncIterator<string>,
  stop: AbortController,
): Promise<void> {
  let sent = Promise.resolve();
  const addPage = (page: string) => {
    const before = sent;
    sent = Promise.all([unlessAborted(compressor.add(page), stop.signal), before]).then(([bytes]) => send(bytes));
    sent.catch(() => {}); // thrown by the next page, or at the end
    return before;
  };
  try {
    // Also if a page cannot be read: those before it were charged.
    await pump(addPage, first, pages, stop).finally(() => sent);
    await send(await unlessAborted(compressor.end(), stop.signal));
  } finally {
    compressor.close();
  }
}

/** Resolves when the kernel has all bytes. */
async function sendPieces(
  response: ServerResponse,
  content: string | Buffer,
  stop: AbortController,
  stallMs: number,
): Promise<void> {
  // ASCII is sent as it is in memory: encoding it takes twice as long.
  const isEncoded = typeof content !== 'string' || Buffer.byteLength(content) === content.length;
  const bytes = isEncoded ? content : Buffer.from(content);
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    const end = start + PIECE_BYTES;
    const piece = typeof bytes === 'string' ? bytes.slice(start, end) : bytes.subarray(start, end);
    await write(response, piece, stop, stallMs);
  }
}

/** Resolves when the kernel has the bytes, which is never earlier than 'drain'. */
async function write(
  response: ServerResponse,
  piece: string | Buffer,
  stop: AbortController,
  stallMs: number,
): Promise<void> {
  const stalled = createStallTimer(stallMs, () => {
    // A pipelined response that waits for the one before it has no socket yet, so its reader cannot stall.
    if (response.socket === null) stalled.refresh();
    else stop.abort(READER_STALLED);
  });
  const written = new Promise<void>((resolve, reject) => {
    response.write(piece, 'latin1', (error) => (error ? reject(READER_LEFT) : resolve()));
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
