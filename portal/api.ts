import { withoutCommands } from './format.ts';
import { signal } from './signal.ts';

// All requests of the pages. The session is a cookie that scripts cannot read.

export class ApiError extends Error {
  readonly status: number;
  readonly retryAfterSeconds: number | null;
  readonly madeMs = Date.now();
  constructor(status: number, message: string, retryAfterSeconds: number | null = null) {
    super(message);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Status 0: no response at all. */
export const SERVER_AWAY = 0;
/** The same request gets the same response. */
export const BAD_REQUEST = 400;
export const UNAUTHORIZED = 401;
export const LIMIT_REACHED = 429;

/** A mistake in a form that the page finds itself. The status is that of a refused request. */
export const mistake = (text: string): ApiError => new ApiError(BAD_REQUEST, text);

/** What the newest charged response said about the tightest limit; null before the first. */
type TightestLimit = { name: string; left: number; resetsInSeconds: number };
export const tightestLimit = signal<TightestLimit | null>(null);

/** Requests in progress, for the line at the top of the page. */
export const pendingRequests = signal(0);

/** It ended while the page was open. The page stays below the login: somebody may have filled in a form. */
export const isSessionOver = signal(false);

/** Called with every 401, and with the time at which its request was sent: the session is over. */
let onSessionOver: (sentMs: number) => void = () => {};
export function setOnSessionOver(listener: typeof onSessionOver): void {
  onSessionOver = listener;
}

export function get<T>(path: string, abort?: AbortSignal): Promise<T> {
  return request(path, { method: 'GET' }, abort);
}

export function post<T>(path: string, body: unknown, abort?: AbortSignal): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  return request(path, { method: 'POST', headers, body: JSON.stringify(body) }, abort);
}

async function request<T>(path: string, init: RequestInit, abort?: AbortSignal): Promise<T> {
  return bodyOf(await send(path, init, abort));
}

export function bodyOf<T>(response: Response): Promise<T> {
  return response.json().catch((error: unknown) => {
    throw error instanceof SyntaxError ? new ApiError(NOT_OURS, notOurs(response)) : error;
  });
}

/** The response has another format: something between the page and the server has answered. */
const NOT_OURS = -1;
const notOurs = ({ status }: Response): string =>
  `Something else answered instead of the server, with the status ${status}: a proxy, or the login page of a network. ` +
  'Try again in a moment. If it stays so, ask the administrator.';

/** A response with a status below 400; any other one is thrown as an ApiError. */
export function send(path: string, init: RequestInit, abort?: AbortSignal): Promise<Response> {
  return settled(() => fetch(path, { ...init, ...(abort && { signal: abort }) }).catch(explainAway));
}

/** The same for a request that `fetch` cannot send. */
export async function settled(ask: () => Promise<Response>): Promise<Response> {
  pendingRequests.value++;
  const sentMs = performance.now();
  try {
    const response = await ask();
    noteLimit(response.headers.get('ratelimit'));
    if (response.ok) return response;
    throw await errorOf(response);
  } catch (error) {
    if (error instanceof ApiError && error.status === UNAUTHORIZED) onSessionOver(sentMs);
    throw error;
  } finally {
    pendingRequests.value--;
  }
}

function explainAway(error: unknown): never {
  if (error instanceof DOMException && error.name === 'AbortError') throw error;
  throw new ApiError(SERVER_AWAY, 'The server does not answer. Check that it runs and that you are connected.');
}

async function errorOf(response: Response): Promise<ApiError> {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  const message = await response.json().then(
    (body: unknown) => withoutCommands((body as { message?: string }).message ?? response.statusText),
    () => notOurs(response),
  );
  return new ApiError(response.status, message, Number.isFinite(retryAfter) ? retryAfter : null);
}

/** `"rl_qps";r=4;t=1` */
const RATE_LIMIT = /^"([^"]+)";r=(\d+);t=(\d+)/;

/** Limits of one second: they have room again before anybody has read it. */
const SHORT_LIMITS = new Set(['rl_qps', 'calls']);

/** When the window of the limit that is shown ends. */
let resetMs = 0;

export function noteLimit(header: string | null): void {
  const [, name, left, resets] = RATE_LIMIT.exec(header ?? '') ?? [];
  if (name === undefined) return;
  if (!SHORT_LIMITS.has(name)) {
    tightestLimit.value = { name, left: Number(left), resetsInSeconds: Number(resets) };
    resetMs = performance.now() + Number(resets) * 1_000;
  } else if (performance.now() >= resetMs) tightestLimit.value = null; // it has room again, and is not the tightest any more
}

/** A stream waits for the page after this time: a fast server must not keep it from being drawn. */
const BUSY_MS = 40;

/** The records of an NDJSON response, in the groups in which they arrive. A response that was cut off throws. */
export async function* records<T>(path: string, body: object | string, abort: AbortSignal): AsyncGenerator<T[]> {
  const isText = typeof body === 'string';
  const headers = { 'content-type': isText ? 'text/plain' : 'application/json' };
  const response = await send(path, { method: 'POST', headers, body: isText ? body : JSON.stringify(body) }, abort);
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  let rest = '';
  let busySinceMs = performance.now();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      if (lines.length > 0) yield lines.map((line) => JSON.parse(line) as T);
      if (performance.now() - busySinceMs < BUSY_MS) continue;
      await new Promise((resolve) => setTimeout(resolve));
      busySinceMs = performance.now();
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}
