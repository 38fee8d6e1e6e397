import { type ErrorDetails, LimitReachedError, MONTHLY_LIMIT, TruncatedStreamError, UrlwardenError } from './errors.ts';
import type { LimitWait, Transport } from './transport.ts';
import type { BulkInput, BulkLine, BulkRow, BulkView } from './types.ts';
import { sleep, unlessAborted } from './waits.ts';

/** The bounds of a request: more is not looked up. */
const MAX_LINES = 10_000;
const MAX_BYTES = 8 * 1024 * 1024;
/** A longer line is an error of that line. */
const MAX_LINE_BYTES = 64 * 1024;
/** A UTF-16 unit is at most three bytes of UTF-8. */
const BYTES_PER_UNIT = 3;

/** Limits of the request, not of the account: the rest can be sent at once. */
const REQUEST_LIMITS = ['lines', 'bytes'];

export type BulkOptions<View extends BulkView = 'last'> = {
  /** `status`: without payloads. Default: `last`. */
  view?: View;
  /** URLs in one request, 1 to 10,000. With fewer, a list that grows slowly is answered sooner. Default: 10,000. */
  batchLines?: number;
  /** Called before each wait for a limit. */
  onWait?: ((wait: LimitWait) => void) | undefined;
  signal?: AbortSignal | undefined;
};

type Sent = { input: string; line: string };
type End = { end: true; stopped_at?: number; limit?: string; retry_after?: number };

/** Looks up any number of URLs, with one request after the other. */
export async function* bulk<View extends BulkView = 'last'>(
  { lines }: Transport,
  urls: Iterable<BulkInput> | AsyncIterable<BulkInput>,
  { view, batchLines = MAX_LINES, onWait = () => {}, signal }: BulkOptions<View>,
): AsyncGenerator<BulkLine<View>, void, void> {
  if (typeof urls === 'string') throw new TypeError('Pass a list of URLs; for a single one there is url.last()');
  /** Lines of all requests that are answered. */
  let answered = 0;
  for await (const batch of batches(urls, Math.min(batchLines, MAX_LINES), signal)) {
    for (let rest = batch; rest.length > 0; ) {
      let end: End | undefined;
      let count = 0;
      let details: ErrorDetails = {};
      const onStream = (found: ErrorDetails) => {
        details = found;
      };
      const body = rest.map(({ line }) => line).join('');
      const fixed = {
        path: '/api/intel/v2/byobject/url/bulk',
        contentType: 'application/x-ndjson',
        onWait,
      };
      for await (const line of lines<BulkLine<View> | End>({ ...fixed, body, query: { view }, signal, onStream })) {
        if ('end' in line) {
          end = line;
          continue;
        }
        const input = rest[count]?.input ?? '';
        count += 1;
        answered += 1;
        yield { ...line, n: answered, input };
      }
      const expected = end?.stopped_at === undefined ? rest.length : end.stopped_at - 1;
      if (end === undefined || count !== expected) {
        throw new TruncatedStreamError(`The response ended after line ${answered}, before its end`, details);
      }
      rest = rest.slice(count);
      if (rest.length === 0) break;
      const { limit = '', retry_after: retryAfterSeconds = 1 } = end;
      const message = `The limit ${limit} is reached before line ${answered + 1}`;
      if (limit === MONTHLY_LIMIT) throw new LimitReachedError(message, { ...details, limit, retryAfterSeconds });
      const isOfRequest = REQUEST_LIMITS.includes(limit);
      // The same request would end in the same place.
      if (isOfRequest && count === 0) throw new UrlwardenError(message, details);
      if (isOfRequest) continue;
      onWait({ limit, seconds: retryAfterSeconds });
      await sleep(retryAfterSeconds * 1000, signal);
    }
  }
}

async function* batches(
  urls: Iterable<BulkInput> | AsyncIterable<BulkInput>,
  maxLines: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Sent[], void, void> {
  let batch: Sent[] = [];
  let bytes = 0;
  for await (const item of untilAborted(urls, signal)) {
    const isUrl = typeof item === 'string' || item instanceof URL;
    const { url: given, ref } = isUrl ? { url: item } : (Object(item) as Partial<BulkRow>);
    // Anything else, such as the cell of a row that is too short, is an error of its line, like an empty text.
    const url = typeof given === 'string' ? given : given instanceof URL ? given.href : '';
    // The beginning of such a line is still too long, so the response is the same.
    const line = `${JSON.stringify({ url: url.slice(0, MAX_LINE_BYTES), ref })}\n`;
    bytes += line.length * BYTES_PER_UNIT;
    if (batch.length >= maxLines || (bytes > MAX_BYTES && batch.length > 0)) {
      yield batch;
      batch = [];
      bytes = line.length * BYTES_PER_UNIT;
    }
    batch.push({ input: url, line });
  }
  if (batch.length > 0) yield batch;
}

/** `for await` alone would not notice the signal while it waits for an item. */
async function* untilAborted<T>(
  items: Iterable<T> | AsyncIterable<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, void> {
  if (signal === undefined) return yield* items;
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let isEnded = false;
  const next = async () => {
    try {
      const { done = false, value } = await iterator.next();
      isEnded = done;
      return await value;
    } catch (error) {
      isEnded = true;
      throw error;
    }
  };
  const close = async () => iterator.return?.();
  try {
    for (;;) {
      signal.throwIfAborted();
      const item = await unlessAborted(next(), signal);
      if (isEnded) return;
      yield item;
    }
  } finally {
    const closed = isEnded ? undefined : close();
    // A generator that waits for something ends only afterwards.
    if (signal.aborted) closed?.catch(() => {});
    else await closed;
  }
}
