import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { AppError, badRequest } from '../core/errors.ts';
import { paths } from '../core/paths.ts';
import { sendContinue, sentContentType } from '../http/body.ts';
import { withinBudget } from '../http/budget.ts';
import type { Charge, Endpoint, Parameter } from '../http/endpoint.ts';
import { isOurFault, wireError } from '../http/errors.ts';
import { NDJSON, sendNdjson } from '../http/ndjson.ts';
import { queryString, wordParameter } from '../http/query.ts';
import { Type } from '../http/schema.ts';
import { type BulkBody, readBulkBody } from './bulk-body.ts';
import { type BulkFormat, type BulkQuery, formatOf, MAX_BULK_BYTES, parserOf } from './bulk-lines.ts';
import { BulkLine, BulkRequestLine } from './schemas.ts';
import type { LastView, UrlStore } from './store.ts';
import { type BulkStop, type BulkTotals, bulkEndLine, bulkFaultLine, bulkLine, type Json } from './wire.ts';

export const MAX_BULK_LINES = 10_000;

/**
 * Lines that are answered before other requests are handled: about 2 ms on SQLite. A known URL takes four times as long as
 * an unknown one, so the previous batch decides how many. More than `MAX_STEP` would not be charged at once.
 */
const BATCH_LINES = 150;
const UNKNOWN_BATCH_LINES = 500;
/** Up to this share of known URLs a batch counts as unknown. */
const UNKNOWN_MAX_SHARE = 0.2;

const TEXT = 'text/plain';
const FORMATS: Readonly<Record<string, BulkFormat>> = { [NDJSON]: 'ndjson', [TEXT]: 'text' };
const VIEWS: readonly LastView[] = ['last', 'status'];

const viewParameter: Parameter = {
  in: 'query',
  name: 'view',
  schema: Type.Enum(VIEWS),
  description: 'status: without payloads. Default: last.',
};

/** `format` is null if the first line that can be read decides. */
type BulkRequest = { view: LastView; format: BulkFormat | null; isGzip: boolean };

/** Many URLs in one request, answered while it arrives (docs/api.md). */
export const urlBulk = (store: UrlStore): Endpoint<BulkRequest> => ({
  method: 'POST',
  path: paths.urlBulk,
  operationId: 'urlBulk',
  summary: 'The last status and the last payload of many URLs, one line for each line of the body, in its order',
  parameters: [viewParameter],
  body: 'stream',
  bodyTypes: { [NDJSON]: BulkRequestLine, [TEXT]: Type.String({ description: 'One URL per line.' }) },
  response: { contentType: NDJSON, schema: BulkLine },
  read: readRequest,
  async respond({ view, format, isGzip }, exchange, options, charging) {
    const stop = new AbortController();
    sendContinue(exchange);
    const body = readBulkBody(exchange.request.raw, isGzip, options.stallMs);
    const lookUp = async (urls: string[]) => withinBudget(store.lastOfMany(urls, view), options.queryBudgetMs);
    const chargeStep = (wanted: number) => charging.chargeStep(exchange, wanted);
    const pages = responseLines({ body, format, lookUp, chargeStep, refund: charging.refund, signal: stop.signal });
    try {
      // Before `sendNdjson`, whose time limit is for queries: the client may take its time to send the first line.
      const first = await pages.next();
      return await sendNdjson(exchange, () => startingWith(first, pages), options);
    } finally {
      stop.abort();
      body.stop();
    }
  },
});

function readRequest(request: FastifyRequest): BulkRequest {
  if (Number(request.headers['content-length']) > MAX_BULK_BYTES) {
    const message = `The body is larger than ${MAX_BULK_BYTES / 2 ** 20} MiB: send it in several requests`;
    throw new AppError('body_too_large', message);
  }
  const view = wordParameter(queryString(request), 'view', VIEWS) ?? 'last';
  const coding = (request.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (coding !== 'gzip' && coding !== 'identity') {
    throw badRequest('The only supported Content-Encoding is gzip');
  }
  const type = sentContentType(request.raw);
  return { view, format: (type !== null && FORMATS[type]) || null, isGzip: coding === 'gzip' };
}

async function* startingWith(first: IteratorResult<string>, pages: AsyncGenerator<string>): AsyncGenerator<string> {
  if (!first.done) yield first.value;
  yield* pages;
}

type BulkParts = {
  body: BulkBody;
  format: BulkFormat | null;
  /** One result for each URL. */
  lookUp(urls: string[]): Promise<(string | null)[]>;
  chargeStep(wanted: number): Promise<Charge>;
  refund(charge: Charge): Promise<void>;
  /** Ends the waits for a limit. */
  signal: AbortSignal;
};

/** `charged`: the URLs that are paid for. A URL that the request repeats costs nothing more. */
type BulkState = { totals: BulkTotals; charged: Set<string> };

/** The pages of the response, of whole lines. */
async function* responseLines(parts: BulkParts): AsyncGenerator<string, void, void> {
  const totals = { lines: 0, distinct: 0, found: 0, invalid: 0, charged: 0 };
  const state: BulkState = { totals, charged: new Set() };
  let { format } = parts;
  let stop: BulkStop | null = null;
  let batchLines = BATCH_LINES;
  while (stop === null) {
    const lines = await parts.body.next(batchLines);
    if (typeof lines === 'string') {
      if (lines === 'corrupt') yield refuseRest(state);
      if (lines === 'cut') stop = { limit: 'bytes' };
      break;
    }
    format ??= formatOf(lines);
    const batch = lines.slice(0, MAX_BULK_LINES - totals.lines).map(parserOf(format));
    const foundBefore = totals.found;
    stop = yield* batchResponse(batch, parts, state);
    const isUnknown = totals.found - foundBefore <= UNKNOWN_MAX_SHARE * batch.length;
    batchLines = isUnknown ? UNKNOWN_BATCH_LINES : BATCH_LINES;
    if (stop === null && batch.length < lines.length) stop = { limit: 'lines' };
  }
  yield bulkEndLine(totals, stop);
}

/** Returns why the request ends with this batch; null if it goes on. */
async function* batchResponse(
  batch: readonly BulkQuery[],
  parts: BulkParts,
  state: BulkState,
): AsyncGenerator<string, BulkStop | null, void> {
  for (let from = 0; from < batch.length; ) {
    const fresh = addFreshUrls(batch, from, state.charged);
    const { charge, reached } = await takeStep(fresh.length, parts);
    const paid = charge?.weight ?? 0;
    const to = paid === fresh.length ? batch.length : batch.findIndex(({ url }) => url === fresh[paid]);
    for (let i = paid; i < fresh.length; i++) state.charged.delete(fresh[i] as string);
    if (to > from) yield await pageResponse(batch.slice(from, to), charge, parts, state);
    from = to;
    if (reached === null) continue;
    if (state.totals.lines === 0) throw reached;
    if (reached.limit !== 'rl_qps') return { limit: reached.limit ?? '', retry_after: reached.retryAfterSeconds };
    // It is waited for: a tier with few queries a second would never finish a list.
    await sleep((reached.retryAfterSeconds ?? 1) * 1000, undefined, { signal: parts.signal });
  }
  return null;
}

/** Adds URLs that were not charged yet, and returns them. One access to the set for each: hashing a text costs most here. */
function addFreshUrls(batch: readonly BulkQuery[], from: number, charged: Set<string>): string[] {
  const fresh: string[] = [];
  for (let i = from; i < batch.length; i++) {
    const url = batch[i]?.url ?? null;
    const before = charged.size;
    if (url !== null && charged.add(url).size > before) fresh.push(url);
  }
  return fresh;
}

type Step = { charge: Charge | null; reached: AppError | null };

/** `reached` if nothing is left of a limit. */
async function takeStep(wanted: number, { chargeStep }: BulkParts): Promise<Step> {
  if (wanted === 0) return { charge: null, reached: null };
  try {
    return { charge: await chargeStep(wanted), reached: null };
  } catch (error) {
    if (error instanceof AppError && error.code === 'limit_reached') return { charge: null, reached: error };
    throw error;
  }
}

/** Looks up the lines that `charge` pays for. If that fails, none of them is answered, and the charge is given back. */
async function pageResponse(
  page: readonly BulkQuery[],
  charge: Charge | null,
  { lookUp, refund }: BulkParts,
  { totals, charged }: BulkState,
): Promise<string> {
  const urls = page.flatMap(({ url }) => url ?? []);
  let results: (string | null)[];
  try {
    results = urls.length === 0 ? [] : await lookUp(urls);
  } catch (error) {
    if (charge !== null && isOurFault(error)) await refund(charge);
    throw error;
  }
  totals.distinct = charged.size;
  totals.charged += charge?.weight ?? 0;
  let [text, next] = ['', 0];
  for (const { ref, url, fault } of page) {
    if (url === null) text += faultLine(totals, ref, fault);
    else {
      const last = results[next++] ?? null;
      if (last !== null) totals.found++;
      text += bulkLine(++totals.lines, ref, last);
    }
  }
  return text;
}

function faultLine(totals: BulkTotals, ref: Json | null, fault: string): string {
  totals.invalid++;
  return bulkFaultLine(++totals.lines, ref, wireError(badRequest(fault)).body);
}

/** What follows cannot be unpacked. It counts as one line. */
function refuseRest({ totals }: BulkState): string {
  const fault = 'The body is not valid gzip';
  if (totals.lines === 0) throw badRequest(fault);
  return faultLine(totals, null, `${fault} from here on`);
}
