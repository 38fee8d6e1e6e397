import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Caller } from '../accounts/caller.ts';
import { URL_DATASET } from '../core/tier.ts';
import { isPlainUrl } from '../core/url-plain.ts';
import type { RecordAnswer } from '../metrics/metrics.ts';
import type { EndpointContext, LookUp } from './endpoint.ts';
import { type HandedOver, handOver } from './handed-over.ts';
import type { LimitHeaders } from './limit-headers.ts';
import { answerLookUp, JSON_TYPE, type LookUpAnswer } from './look-up.ts';

export type DirectRoute = { lookUp: LookUp; record: RecordAnswer };

export type DirectOptions = {
  /** By path. */
  routes: ReadonlyMap<string, DirectRoute>;
  context: EndpointContext;
  /** Fastify tells clients of a server that is closing to close their connections. */
  isClosing(): boolean;
};

/** Longer bodies hold something else than one plain URL. */
const MAX_BYTES = 4096;

/** As JSON writers write it, with and without a space. Escapes are left to a parser. */
const BODY = /^\{"url": ?"([^"\\]*)"\}$/;

const NO_HEADERS: LimitHeaders = {};

/**
 * Look-ups in the form in which nearly all come, answered before Fastify: its way through routing, hooks, validation and
 * serialization takes a fifth of the time of a look-up (docs/decisions/reads.md). Answered here is only what is plainly
 * right, with 200 or 404: a path of `look-up.ts`, a token that was verified before, a short body of one URL in its normal
 * form. All else goes on to Fastify with what is known of it by then, and so does what goes wrong: there is one place
 * that refuses, logs and explains.
 */
export function createDirect(fastify: RequestListener, options: DirectOptions): RequestListener {
  const { routes, context, isClosing } = options;
  const { authenticate } = context.services;

  const goOn = (request: IncomingMessage, response: ServerResponse, known: HandedOver) => {
    handOver(request, known);
    fastify(request, response);
  };

  async function answer(route: DirectRoute, exchange: DirectExchange, body: Buffer): Promise<void> {
    const { request, response, caller, startMs } = exchange;
    const url = plainUrlOf(body);
    if (url === null) return goOn(request, response, { body });
    let headers = NO_HEADERS;
    let found: LookUpAnswer;
    try {
      const onHeaders = (limitHeaders: LimitHeaders) => {
        headers = limitHeaders;
      };
      const query = { caller, weight: 1, onHeaders };
      found = await context.counted(query, () => answerLookUp(route.lookUp, url, context));
    } catch (error) {
      return goOn(request, response, { refusal: { error: error as Error, headers } });
    }
    response.on('finish', () => route.record('POST', found.status, (performance.now() - startMs) / 1000));
    send(response, found, headers);
  }

  return (request, response) => {
    const route = request.method === 'POST' ? routes.get(request.url as string) : undefined;
    if (route === undefined || !isShort(request) || isClosing()) return fastify(request, response);
    const startMs = performance.now();
    let caller: Caller | Promise<Caller>;
    try {
      caller = authenticate(request.headers.authorization);
    } catch (error) {
      return goOn(request, response, { refusal: { error: error as Error, headers: NO_HEADERS } });
    }
    if (caller instanceof Promise) return goOn(request, response, { caller });
    if (!caller.limits.ads.includes(URL_DATASET)) return fastify(request, response);
    const exchange = { request, response, caller, startMs };
    readBody(request, (body) => void answer(route, exchange, body));
  };
}

type DirectExchange = { request: IncomingMessage; response: ServerResponse; caller: Caller; startMs: number };

/** A body without a length comes in chunks; Node refuses a length that is no number. */
function isShort({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) <= MAX_BYTES;
}

/** Never calls back when the client leaves before the end. */
function readBody(request: IncomingMessage, onBody: (body: Buffer) => void): void {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => onBody(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)));
}

/** A byte beyond ASCII becomes a character that no plain URL has. */
function plainUrlOf(body: Buffer): string | null {
  const url = BODY.exec(body.toString('latin1'))?.[1];
  return url !== undefined && isPlainUrl(url) ? url : null;
}

/** In one piece: a head and a body as text become one write. Text that is ASCII needs no encoding. */
function send(response: ServerResponse, { status, json }: LookUpAnswer, headers: LimitHeaders): void {
  const bytes = Buffer.byteLength(json);
  response.writeHead(status, { 'content-type': JSON_TYPE, 'content-length': bytes, ...headers });
  response.end(json, bytes === json.length ? 'latin1' : 'utf8');
}
