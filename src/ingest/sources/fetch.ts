import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { AppError } from '../../core/errors.ts';
import { explainFailure, responseRefusal } from './fetch-errors.ts';
import { checkLiteral, type Guard, guardedLookup } from './fetch-guard.ts';
import { type FetchHeaders, readFetchUrl, shownUrl } from './fetch-url.ts';
import { INPUT_LIMITS, type InputLimits, type Source } from './format.ts';
import { sourceOf } from './source.ts';

/** What a server says of the state of a file, and is asked with the next time (RFC 9110 section 13.1). */
export type Validators = { etag: string | null; lastModified: string | null };

/** To be read once. */
export type Download = Source & Validators;

export type FetchLimits = {
  /** For the name, the connection and the handshake of one hop. */
  connectTimeoutMs: number;
  /** For the head of an answer, and for each next piece of it. The time that the reader takes does not count. */
  idleTimeoutMs: number;
  /** From the first hop to the last byte; the reader's time included. */
  totalTimeoutMs: number;
  maxBytes: number;
};

export type FetchOptions = {
  guard: Guard;
  /** Sent to the host of the URL itself, and to no other that it may send us to. */
  headers?: FetchHeaders;
  validators?: Validators;
  limits?: Partial<FetchLimits>;
  /** Of what comes packed. */
  inputLimits?: InputLimits;
  signal?: AbortSignal;
};

/** The dump of all payloads has 0.4 GB packed, and is read in minutes. */
export const DEFAULT_FETCH_LIMITS: FetchLimits = {
  connectTimeoutMs: 20_000,
  idleTimeoutMs: 60_000,
  totalTimeoutMs: 2 * 3_600_000,
  maxBytes: 4 * 1024 ** 3,
};

const REDIRECTS_MAX = 5;
const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308]);

type Hop = Required<Pick<FetchOptions, 'guard' | 'headers'>> & { limits: FetchLimits; signal: AbortSignal };

/** `text` may have {Name} in path and query, which stands for the value of that header. */
export async function openUrl(text: string, options: FetchOptions): Promise<Download | 'not_modified'> {
  const { guard, headers = {}, validators, signal } = options;
  const limits = { ...DEFAULT_FETCH_LIMITS, ...options.limits };
  const url = readFetchUrl(text, headers);
  const timeout = AbortSignal.timeout(limits.totalTimeoutMs);
  const hop = { guard, headers, limits, signal: signal ? AbortSignal.any([signal, timeout]) : timeout };
  const response = await follow(url, validators, hop);
  if (response.statusCode === 304 && validators !== undefined) {
    response.destroy();
    return 'not_modified';
  }
  const refusal = responseRefusal(url.host, response, limits.maxBytes);
  if (refusal === null) return downloadOf(text, url, response, options, hop);
  response.destroy();
  throw refusal;
}

/** By hand, because each hop is judged anew: its address, its scheme, and whether it may see our headers. */
async function follow(start: URL, validators: Validators | undefined, hop: Hop): Promise<IncomingMessage> {
  let url = start;
  let headers = hop.headers;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const response = await ask(url, { ...headers, ...conditions(validators) }, hop);
    const location = response.headers.location;
    if (!REDIRECTS.has(response.statusCode) || location === undefined) return response;
    response.destroy();
    const next = redirectTarget(url, location);
    // For good: whoever got us off the host must not send us back there with a key.
    if (next.origin !== url.origin) headers = {};
    url = next;
  }
  throw new AppError('unavailable', `${start.host} redirects more than ${REDIRECTS_MAX} times`);
}

function redirectTarget(from: URL, location: string): URL {
  const next = URL.parse(location, from.href);
  if (next === null) throw new AppError('unavailable', `${from.host} redirects to what is no URL`);
  if (from.protocol === 'https:' && next.protocol === 'http:') {
    throw new AppError('forbidden', `${from.host} redirects to ${next.host} without encryption, which is not followed`);
  }
  if (next.protocol !== 'https:' && next.protocol !== 'http:') {
    throw new AppError('forbidden', `${from.host} redirects to ${next.protocol}, which is not followed`);
  }
  return next;
}

function conditions(validators: Validators | undefined): FetchHeaders {
  return {
    ...(validators?.etag && { 'if-none-match': validators.etag }),
    ...(validators?.lastModified && { 'if-modified-since': validators.lastModified }),
  };
}

/** One request, until the head of its answer. */
function ask(url: URL, headers: FetchHeaders, { guard, limits, signal }: Hop): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  checkLiteral(url.hostname.replace(/^\[|\]$/g, ''), guard);
  const request = (url.protocol === 'https:' ? https : http).request(url, {
    agent: false, // a connection of its own: one that is kept open was checked for an earlier request
    auth: null,
    lookup: guardedLookup(guard),
    headers: { 'user-agent': 'urlwarden', accept: '*/*', ...headers, 'accept-encoding': 'identity' },
    signal,
  });
  const cutOff = (what: string) => () => request.destroy(new AppError('timed_out', `${url.host} ${what}`));
  let timer = setTimeout(cutOff('cannot be connected to in time'), limits.connectTimeoutMs);
  request.on('socket', (socket) => {
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer);
      timer = setTimeout(cutOff('does not answer in time'), limits.idleTimeoutMs);
    });
  });
  request.once('response', resolve);
  request.on('error', (error) => reject(explainFailure(url.host, error, signal)));
  // Node closes a connection that changes its protocol, and calls that no error.
  request.on('close', () => reject(new AppError('unavailable', `${url.host} ended the connection without an answer`)));
  request.end();
  return promise.finally(() => clearTimeout(timer));
}

function downloadOf(text: string, url: URL, response: IncomingMessage, options: FetchOptions, hop: Hop): Download {
  const { 'content-length': length, etag = null, 'last-modified': lastModified = null } = response.headers;
  const totalBytes = length === undefined ? null : Number(length);
  const beside = (path: string) => besideOf(url, path, options);
  const bytes = readBody(response, url.host, hop);
  const source = sourceOf(shownUrl(text), bytes, totalBytes, beside, options.inputLimits ?? INPUT_LIMITS);
  return { ...source, etag, lastModified };
}

async function* readBody(response: IncomingMessage, host: string, { limits, signal }: Hop): AsyncGenerator<Buffer> {
  let readBytes = 0;
  const stalled = () => response.destroy(new AppError('timed_out', `${host} stopped in the middle of its answer`));
  let timer = setTimeout(stalled, limits.idleTimeoutMs);
  try {
    for await (const chunk of response) {
      clearTimeout(timer);
      readBytes += chunk.length;
      if (readBytes > limits.maxBytes) {
        throw new AppError('body_too_large', `${host} sends more than ${limits.maxBytes} bytes`);
      }
      yield chunk;
      timer = setTimeout(stalled, limits.idleTimeoutMs);
    }
  } catch (error) {
    throw explainFailure(host, error, signal);
  } finally {
    clearTimeout(timer);
  }
}

/** In the same folder of the same host or below it: the name comes out of the data. */
function besideOf(url: URL, path: string, options: FetchOptions): Source | null {
  const folder = new URL('.', url);
  const next = URL.parse(path, folder.href);
  if (next === null || next.origin !== url.origin || !next.pathname.startsWith(folder.pathname)) return null;
  const { validators, ...others } = options;
  let opened: Source | null = null;
  return {
    name: shownUrl(path),
    async *bytes() {
      const download = await openUrl(next.href, others);
      if (download === 'not_modified') throw new Error('nothing was known of it');
      opened = download;
      yield* download.bytes();
    },
    beside: (further) => besideOf(next, further, others),
    progress: () => opened?.progress() ?? { readBytes: 0, totalBytes: null },
  };
}
