import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { AppError } from '../../core/errors.ts';
import { http } from '../../core/node-http.ts';
import { IN_PARTS, responseRefusal, toFetchError } from './fetch-errors.ts';
import { checkLiteral, type Guard, guardedLookup } from './fetch-guard.ts';
import { type FetchHeaders, readFetchUrl, shownUrl } from './fetch-url.ts';
import { INPUT_LIMITS, type InputLimits, type Source } from './format.ts';
import { sourceOf } from './source.ts';

/** Validators of a response, sent with the next conditional request (RFC 9110 section 13.1). */
export type Validators = { etag: string | null; lastModified: string | null };

/** Can be read once. */
export type Download = Source & Validators;

export type FetchLimits = {
  /** DNS, connection and TLS handshake of one hop. */
  connectTimeoutMs: number;
  /** Until the response headers, and for each `pieceBytes` of the body. Does not include the time of the reader. */
  idleTimeoutMs: number;
  /** A timeout for each chunk would not be enough: a chunk may be one byte. */
  pieceBytes: number;
  /** From the first hop to the last byte of the last sibling, including the time of the reader. */
  totalTimeoutMs: number;
  maxBytes: number;
};

export type FetchOptions = {
  guard: Guard;
  /** Sent to the origin of the URL only, not to another origin after a redirect. */
  headers?: FetchHeaders;
  validators?: Validators;
  limits?: Partial<FetchLimits>;
  /** Limits for packed responses. */
  inputLimits?: InputLimits;
  signal?: AbortSignal;
};

/** The largest public dump, the payloads of URLhaus, has 0.4 GB packed and is read in minutes. */
export const DEFAULT_FETCH_LIMITS: FetchLimits = {
  connectTimeoutMs: 20_000,
  idleTimeoutMs: 60_000,
  pieceBytes: 64 * 1024, // 1 KiB a second, 60 times slower than the largest dump needs
  totalTimeoutMs: 2 * 3_600_000,
  maxBytes: 4 * 1024 ** 3,
};

const REDIRECTS_MAX = 5;
const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308]);

type Hop = Required<Pick<FetchOptions, 'guard' | 'headers'>> & { limits: FetchLimits; signal: AbortSignal };

/** {Name} in the path and the query of `text` is replaced by the value of that header. */
export async function openUrl(text: string, options: FetchOptions): Promise<Download | 'not_modified'> {
  const { guard, headers = {}, validators, signal } = options;
  const limits = { ...DEFAULT_FETCH_LIMITS, ...options.limits };
  const url = readFetchUrl(text, headers);
  const timeout = AbortSignal.timeout(limits.totalTimeoutMs);
  const hop = { guard, headers, limits, signal: signal ? AbortSignal.any([signal, timeout]) : timeout };
  const response = await follow(url, validators, hop);
  if (response.statusCode === 304 && (validators?.etag || validators?.lastModified)) {
    response.destroy();
    return 'not_modified';
  }
  const refusal = responseRefusal(url.host, response, limits.maxBytes);
  if (refusal === null) return downloadOf(text, url, response, options, hop);
  response.destroy();
  throw refusal;
}

/** Follows redirects here, because each hop is checked: its address, its scheme, and whether it gets the headers. */
async function follow(start: URL, validators: Validators | undefined, hop: Hop): Promise<IncomingMessage> {
  let url = start;
  let headers = hop.headers;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const response = await sendRequest(url, { ...headers, ...conditions(validators) }, hop);
    const location = response.headers.location;
    if (!REDIRECTS.has(response.statusCode) || location === undefined) return response;
    response.destroy();
    const next = redirectTarget(url, location);
    // Permanently: the other origin must not redirect back here and use the key.
    if (next.origin !== url.origin) headers = {};
    url = next;
  }
  throw new AppError('unavailable', `${start.host} redirects more than ${REDIRECTS_MAX} times: check the URL`);
}

function redirectTarget(from: URL, location: string): URL {
  const next = URL.parse(location, from.href);
  if (next === null) throw new AppError('unavailable', `${from.host} redirects to an invalid URL: try again later`);
  if (from.protocol === 'https:' && next.protocol === 'http:') {
    throw new AppError('forbidden', `${from.host} redirects from https to http, which is not followed: check the URL`);
  }
  if (next.protocol !== 'https:' && next.protocol !== 'http:') {
    throw new AppError('forbidden', `${from.host} redirects to ${next.protocol}, which is not followed: check the URL`);
  }
  return next;
}

function conditions(validators: Validators | undefined): FetchHeaders {
  return {
    ...(validators?.etag && { 'if-none-match': validators.etag }),
    ...(validators?.lastModified && { 'if-modified-since': validators.lastModified }),
  };
}

type PostOptions = {
  guard: Guard;
  headers: FetchHeaders;
  /** For each of: connecting, and waiting for the response headers. */
  timeoutMs: number;
  signal: AbortSignal;
};

/**
 * Sends a body by POST. Throws unless the response is 2xx: a redirect is not followed, because another host must not get
 * the body. The body of the response is not read.
 */
export async function postUrl(text: string, body: string, options: PostOptions): Promise<void> {
  const { guard, headers, timeoutMs, signal } = options;
  const url = readFetchUrl(text, {});
  const limits = { ...DEFAULT_FETCH_LIMITS, connectTimeoutMs: timeoutMs, idleTimeoutMs: timeoutMs };
  const response = await sendRequest(url, headers, { guard, headers, limits, signal }, body);
  response.destroy();
  const status = response.statusCode ?? 0;
  if (status < 200 || status > 299) throw new AppError('unavailable', `${url.host} responded with ${status}`);
}

/** Sends one request, with a body by POST, and waits for the response headers. */
function sendRequest(
  url: URL,
  headers: FetchHeaders,
  { guard, limits, signal }: Hop,
  body?: string,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  checkLiteral(url.hostname.replace(/^\[|\]$/g, ''), guard);
  const request = (url.protocol === 'https:' ? https : http).request(url, {
    method: body === undefined ? 'GET' : 'POST',
    agent: false, // a new connection: a reused one was checked for an earlier request only
    auth: null,
    lookup: guardedLookup(guard),
    headers: { 'user-agent': 'urlwarden', accept: '*/*', ...headers, 'accept-encoding': 'identity' },
    signal,
  });
  const timeOut = (what: string) => () =>
    request.destroy(new AppError('timed_out', `${url.host} ${what}: try again later`));
  let timer = setTimeout(timeOut('did not accept a connection in time'), limits.connectTimeoutMs);
  request.on('socket', (socket) => {
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer);
      timer = setTimeout(timeOut('did not respond in time'), limits.idleTimeoutMs);
    });
  });
  request.once('response', resolve);
  request.on('error', (error) => reject(toFetchError(url.host, error, signal)));
  // Node closes a connection that switches its protocol, without an `error` event.
  request.on('close', () =>
    reject(new AppError('unavailable', `${url.host} closed the connection without a response`)),
  );
  request.end(body);
  return promise.finally(() => clearTimeout(timer));
}

function downloadOf(text: string, url: URL, response: IncomingMessage, options: FetchOptions, hop: Hop): Download {
  const { 'content-length': length, etag = null, 'last-modified': lastModified = null } = response.headers;
  const totalBytes = length === undefined ? null : Number(length);
  // With the signal of the whole download: a feed of many files has the same total time as one file.
  const sibling = (path: string) => siblingOf(url, path, { ...options, signal: hop.signal });
  const bytes = readBody(response, url.host, hop);
  const source = sourceOf(shownUrl(text), bytes, totalBytes, sibling, options.inputLimits ?? INPUT_LIMITS);
  return { ...source, etag, lastModified };
}

async function* readBody(response: IncomingMessage, host: string, { limits, signal }: Hop): AsyncGenerator<Buffer> {
  let [readBytes, pieceBytes, waitedMs] = [0, 0, 0];
  const stopped = `${host} stopped in the middle of its response, or sends it too slowly: try again later`;
  const stalled = () => response.destroy(new AppError('timed_out', stopped));
  const startWait = () => ({ sinceMs: performance.now(), timer: setTimeout(stalled, limits.idleTimeoutMs - waitedMs) });
  let wait = startWait();
  try {
    for await (const chunk of response) {
      clearTimeout(wait.timer);
      waitedMs += performance.now() - wait.sinceMs;
      readBytes += chunk.length;
      pieceBytes += chunk.length;
      if (pieceBytes >= limits.pieceBytes) [pieceBytes, waitedMs] = [0, 0];
      if (readBytes > limits.maxBytes) {
        throw new AppError(
          'body_too_large',
          `${host}: the response has more than ${limits.maxBytes} bytes; ${IN_PARTS}`,
        );
      }
      yield chunk;
      wait = startWait();
    }
  } catch (error) {
    throw toFetchError(host, error, signal);
  } finally {
    clearTimeout(wait.timer);
  }
}

/** Only the same folder or a folder below it: `path` comes from the data, which is not trusted. */
function siblingOf(url: URL, path: string, options: FetchOptions): Source | null {
  const folder = new URL('.', url);
  const next = URL.parse(path, folder.href);
  if (next === null || next.origin !== url.origin || !next.pathname.startsWith(folder.pathname)) return null;
  const { validators, ...others } = options;
  let opened: Source | null = null;
  return {
    name: shownUrl(path),
    async *bytes() {
      const download = await openUrl(next.href, others);
      if (download === 'not_modified') throw new Error('304 for a request without validators');
      opened = download;
      yield* download.bytes();
    },
    sibling: (further) => siblingOf(next, further, others),
    progress: () => opened?.progress() ?? { readBytes: 0, totalBytes: null },
  };
}
