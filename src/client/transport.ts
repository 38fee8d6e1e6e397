import { type ErrorDetails, LimitReachedError, MONTHLY_LIMIT, UnavailableError, UrlwardenError } from './errors.ts';
import { asUnavailable, detailsOf, errorOf, isUnknown, rateOf, readLines, readObject } from './responses.ts';
import type { Rate } from './types.ts';
import { sleep, startTimer, unlessAborted } from './waits.ts';

export type ClientOptions = {
  /** The address of the server, such as https://intel.example.com. A path before that of the API is allowed. */
  baseUrl: string;
  /**
   * How long a call may take in total, with its retries. Default: 30; Infinity: for ever. A stream may take longer once
   * it has begun.
   */
  deadlineSeconds?: number;
  /** Instead of the global `fetch`. */
  fetch?: typeof globalThis.fetch;
} & ({ username: string; password: string; token?: undefined } | { token: string; username?: undefined });

/** A limit that is waited for: its name, such as `rl_qpm`, and how long. */
export type LimitWait = { limit: string | null; seconds: number };

export type Call = {
  path: string;
  /** Undefined: GET. */
  body?: string;
  contentType?: string;
  query?: Record<string, string | number | Date | undefined>;
  /** A key that every successful JSON object of this call has. */
  expects?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Called before a wait for a limit. With it, every limit but the monthly one is waited for, however long. */
  onWait?: ((wait: LimitWait) => void) | undefined;
  /** Called when a stream begins. */
  onStream?(details: ErrorDetails): void;
};

export type Transport = {
  /** Null: the object is unknown. */
  json<T>(call: Call): Promise<T | null>;
  /** One value for each line; none if the object is unknown. */
  lines<T>(call: Call): AsyncGenerator<T, void, void>;
  rate(): Rate | null;
};

const DEADLINE_SECONDS = 30;
/** The bound of the first wait without Retry-After; it doubles up to the longest. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 8_000;
/** A renewal that failed is tried again after this, while the token is still valid. */
const RENEW_AGAIN_MS = 60_000;

/** A token. Compared by identity: two logins within a second get the same text. */
type Session = { token: string; renewAtMs: number; expiresAtMs: number };

/** `failure`: why the attempt before this one failed; undefined for the first. */
type Attempt = { timeoutMs: number; failure?: unknown };

/** `close` ends the request, and what of the response is not read. */
type Opened = { response: Response; clearDeadline(): void; close(): void };

export function createTransport(options: ClientOptions): Transport {
  const base = readBase(options.baseUrl);
  const deadlineMs = (options.deadlineSeconds ?? DEADLINE_SECONDS) * 1000;
  if (!(deadlineMs > 0)) throw new TypeError('deadlineSeconds must be more than 0');
  let session: Session | null = null;
  let logIn: Promise<Session> | null = null;
  let rate: Rate | null = null;
  if (options.token !== undefined) {
    // fetch would put a value that is not valid into the message of its error.
    if (!/^[\x21-\x7e]+$/.test(options.token)) throw new TypeError('The token has characters that no token has');
    session = { token: options.token, renewAtMs: Number.POSITIVE_INFINITY, expiresAtMs: Number.POSITIVE_INFINITY };
  } else if (typeof options.username !== 'string' || typeof options.password !== 'string') {
    throw new TypeError('Pass username and password, or a token');
  }

  /** One at a time, however many calls wait. Not ended by the signal of the call that started it, as others wait too. */
  function renew(): Promise<Session> {
    logIn ??= newSession().finally(() => {
      logIn = null;
    });
    return logIn;
  }

  async function newSession(): Promise<Session> {
    const { username, password } = options as { username: string; password: string };
    const body = JSON.stringify({ username, password, realm: 'intel' });
    const call = { path: '/api/v1/login', body, expects: 'token' };
    // Calls that need it repeat it with themselves, so that each has its own deadline and the reason of the failure.
    const opened = await open(call, { timeoutMs: deadlineMs }, async () => null);
    if (opened === null) throw new UrlwardenError('The server has no login', { status: 404 });
    const { token, expires } = await readJson<{ token: string; expires: number }>(opened, call);
    // By the clock of the server, since that of this machine may be wrong.
    const sentMs = Date.parse(opened.response.headers.get('date') ?? '') || Date.now();
    const lifeMs = expires * 1000 - sentMs;
    // If the clocks disagree about the whole life, the 401 of an expired token leads to the next login.
    const isUsable = lifeMs > 0;
    const atMs = (share: number) => (isUsable ? Date.now() + lifeMs * share : Number.POSITIVE_INFINITY);
    session = { token, renewAtMs: atMs(0.9), expiresAtMs: atMs(1) };
    return session;
  }

  /** A renewal of a token that is still valid delays no call. */
  async function currentSession(): Promise<Session> {
    if (session === null || Date.now() >= session.expiresAtMs) return renew();
    if (Date.now() >= session.renewAtMs) {
      session.renewAtMs = Date.now() + RENEW_AGAIN_MS;
      renew().catch(() => {});
    }
    return session;
  }

  /** Null: the object is unknown. Throws for every other response without success. */
  async function open(call: Call, attempt: Attempt, authorize = currentSession as () => Promise<Session | null>) {
    const { signal } = call;
    signal?.throwIfAborted();
    const url = base + pathOf(call); // before `try`: a wrong parameter is no failure of the network
    const controller = new AbortController();
    const leave = () => controller.abort(signal?.reason);
    signal?.addEventListener('abort', leave);
    const clearDeadline = startTimer(attempt.timeoutMs, () => {
      const tooSlow = new UnavailableError(`The server did not answer within ${deadlineMs / 1000} s`);
      controller.abort(attempt.failure ?? tooSlow);
    });
    const close = () => {
      clearDeadline();
      signal?.removeEventListener('abort', leave);
      controller.abort();
    };
    let refusal: UrlwardenError;
    try {
      let used = await unlessAborted(authorize(), controller.signal);
      let response = await send(url, call, used, controller.signal);
      if (response.status === 401 && used !== null && options.token === undefined) {
        await response.text(); // so that the connection can be used again
        // Another call may have renewed the refused token meanwhile.
        if (session === used) session = null;
        used = await unlessAborted(authorize(), controller.signal);
        response = await send(url, call, used, controller.signal);
      }
      if (response.ok) return { response, clearDeadline, close };
      refusal = await errorOf(response);
    } catch (error) {
      const { aborted, reason } = controller.signal;
      close();
      throw aborted ? reason : asUnavailable(error);
    }
    close();
    if (isUnknown(refusal)) return null;
    throw refusal;
  }

  async function send(url: string, call: Call, used: Session | null, signal: AbortSignal): Promise<Response> {
    const { body, contentType = 'application/json' } = call;
    const headers: Record<string, string> = {};
    if (used !== null) headers.authorization = `Bearer ${used.token}`;
    if (body !== undefined) headers['content-type'] = contentType;
    // Not called as a method: fetch of a browser refuses to run with another `this`.
    const fetch = options.fetch ?? globalThis.fetch;
    const response = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers,
      ...(body !== undefined && { body }),
      signal,
      // A cookie of the pages would be a second identity; a redirect could take the password to another server.
      credentials: 'omit',
      redirect: 'manual',
    });
    rate = rateOf(response.headers) ?? rate;
    return response;
  }

  /** Every call of the API can be repeated. */
  async function retried<T>(call: Call, run: (attempt: Attempt) => Promise<T>): Promise<T> {
    let endMs = Date.now() + deadlineMs;
    let failure: unknown;
    for (let count = 0; ; count += 1) {
      try {
        return await run({ timeoutMs: endMs - Date.now(), failure });
      } catch (error) {
        call.signal?.throwIfAborted();
        const waitMs = waitBeforeRetry(error, count);
        if (waitMs === null) throw error;
        const isAwaitedLimit = call.onWait !== undefined && error instanceof LimitReachedError;
        if (!isAwaitedLimit && Date.now() + waitMs >= endMs) throw error;
        if (isAwaitedLimit) call.onWait?.({ limit: error.limit, seconds: waitMs / 1000 });
        await sleep(waitMs, call.signal);
        failure = isAwaitedLimit ? undefined : error;
        if (isAwaitedLimit) endMs = Date.now() + deadlineMs;
      }
    }
  }

  return {
    json: (call) =>
      retried(call, async (attempt) => {
        const opened = await open(call, attempt);
        return opened === null ? null : readJson(opened, call);
      }),

    async *lines(call) {
      const opened = await retried(call, (attempt) => open(call, attempt));
      if (opened === null) return;
      opened.clearDeadline();
      call.onStream?.(detailsOf(opened.response));
      try {
        yield* readLines(opened.response, call.signal);
      } finally {
        opened.close();
      }
    },

    rate: () => rate,
  };
}

/** The text is not part of any error: it may have a password. */
function readBase(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new TypeError('baseUrl must be a URL such as https://intel.example.com');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new TypeError('baseUrl must begin with https or http');
  if (url.username !== '' || url.password !== '')
    throw new TypeError('Pass username and password separately, not in baseUrl');
  return url.origin + url.pathname.replace(/\/+$/, '');
}

function pathOf({ path, query = {} }: Call): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(parameterText(name, value))}`],
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

/** Seconds of the year 5138, milliseconds of 1973. A `since` in milliseconds would find nothing. */
const FIRST_MILLISECONDS = 1e11;

function parameterText(name: string, value: string | number | Date): string {
  if (name === 'since' && Number(value) >= FIRST_MILLISECONDS && !(value instanceof Date))
    throw new TypeError('since must be Unix seconds or a Date, not milliseconds');
  return String(value instanceof Date ? Math.floor(value.getTime() / 1000) : value);
}

async function readJson<T>({ response, close }: Opened, { expects }: Call): Promise<T> {
  try {
    return await readObject(response, expects);
  } finally {
    close();
  }
}

/** Milliseconds; null: the call must not be repeated. */
function waitBeforeRetry(error: unknown, count: number): number | null {
  if (!(error instanceof UnavailableError || error instanceof LimitReachedError)) return null;
  if (error.status !== null && ![408, 429, 503].includes(error.status)) return null;
  if (error instanceof LimitReachedError && error.limit === MONTHLY_LIMIT) return null;
  const jitterMs = Math.random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** count);
  return Math.max((error.retryAfterSeconds ?? 0) * 1000, jitterMs);
}
