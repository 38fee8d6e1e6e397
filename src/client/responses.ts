import {
  AuthenticationError,
  BadRequestError,
  ForbiddenError,
  LimitReachedError,
  type RetryDetails,
  TruncatedStreamError,
  UnavailableError,
  UrlwardenError,
} from './errors.ts';
import type { Rate } from './types.ts';

// What a response of the server says: an object, lines, an error, what is left of the limits.

const NDJSON = 'application/x-ndjson';

/** `expects`: a key that the object must have. */
export async function readObject<T>(response: Response, expects: string | undefined): Promise<T> {
  const text = await response.text().catch((error) => {
    throw asUnavailable(error);
  });
  return parseObject(text, response, expects);
}

export async function* readLines<T>(
  response: Response,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, void> {
  if (!response.headers.get('content-type')?.startsWith(NDJSON)) throw notOurs(response);
  const cutOff = (cause?: unknown) =>
    new TruncatedStreamError('The stream ended before its end', { ...detailsOf(response), cause });
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  /** The line that has not ended yet, in parts: joining it again for each chunk would take quadratic time. */
  let rest: string[] = [];
  for (;;) {
    const chunk = await reader?.read().catch((cause) => {
      signal?.throwIfAborted();
      throw cutOff(cause);
    });
    const lines = decoder.decode(chunk?.value, { stream: !(chunk?.done ?? true) }).split('\n');
    for (const part of lines.slice(0, -1)) {
      const line = rest.join('') + part;
      rest = [];
      if (line !== '') yield parseObject(line, response);
    }
    rest.push(lines.at(-1) ?? '');
    if (chunk?.done ?? true) break;
  }
  if (rest.join('') !== '') throw cutOff();
}

/** An object or an array. Another server may send any JSON, and `null` or `{}` must not look like "nothing is known". */
function parseObject<T>(text: string, response: Response, expects?: string | undefined): T {
  try {
    const value = JSON.parse(text);
    if (Object(value) === value && (expects === undefined || expects in value)) return value;
  } catch {}
  throw notOurs(response);
}

export const detailsOf = ({ status, headers }: Response) => ({ status, requestId: headers.get('x-request-id') });

function notOurs(response: Response): UrlwardenError {
  return new UrlwardenError('The response is not one of Urlwarden; check baseUrl', detailsOf(response));
}

export async function errorOf(response: Response): Promise<UrlwardenError> {
  const { status, headers } = response;
  const body = asErrorBody(await response.text());
  const isNoPath = body?.message === NO_PATH;
  const message = isNoPath
    ? `${NO_PATH}: baseUrl is the address before /api`
    : (body?.message ?? `The response has the status ${status} and is not one of Urlwarden; check baseUrl`);
  const retryAfterSeconds = retryAfterOf(headers);
  const details: RetryDetails = { ...detailsOf(response), code: body?.code ?? null, retryAfterSeconds };
  if (status === 401) return new AuthenticationError(message, details);
  if (status === 403) return new ForbiddenError(message, details);
  if (status === 408 || status >= 500) return new UnavailableError(message, details);
  if (status === 429) {
    const limit = /^The limit (\w+) is reached/.exec(message)?.[1] ?? null;
    return new LimitReachedError(message, { ...details, limit });
  }
  return status >= 400 ? new BadRequestError(message, details) : new UrlwardenError(message, details);
}

function asErrorBody(text: string): { code: number; message: string } | null {
  try {
    const body = JSON.parse(text);
    return typeof body.code === 'number' && typeof body.message === 'string' ? body : null;
  } catch {
    return null;
  }
}

/** A wrong baseUrl must not look like a response that nothing is known. */
export function isUnknown({ status, code, message }: UrlwardenError): boolean {
  return status === 404 && code === 404 && !message.startsWith(NO_PATH);
}

const NO_PATH = 'This path does not exist';

/** Seconds or a date, as RFC 9110 allows. */
function retryAfterOf(headers: Headers): number | null {
  const text = headers.get('retry-after');
  if (text === null) return null;
  const seconds = Number(text);
  const found = Number.isNaN(seconds) ? (Date.parse(text) - Date.now()) / 1000 : seconds;
  return Number.isNaN(found) ? null : Math.max(0, found);
}

/** RateLimit: "rl_qps";r=4;t=1 and RateLimit-Policy: "rl_qps";q=5;w=1, "rl_qpm";q=50;w=60 */
export function rateOf(headers: Headers): Rate | null {
  const found = /^"(\w+)";r=(\d+);t=(\d+)/.exec(headers.get('ratelimit') ?? '');
  if (found === null) return null;
  const policies = [...(headers.get('ratelimit-policy') ?? '').matchAll(/"(\w+)";q=(\d+);w=(\d+)/g)];
  return {
    limit: found[1] ?? '',
    remaining: Number(found[2]),
    resetSeconds: Number(found[3]),
    policies: policies.map(([, limit = '', queries, seconds]) => ({
      limit,
      queries: Number(queries),
      windowSeconds: Number(seconds),
    })),
  };
}

/** What fetch throws is an error of the network, as the arguments are checked before. */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof UrlwardenError) return error;
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } };
  const reason = cause?.code ?? cause?.message ?? message ?? 'no reason is known';
  return new UnavailableError(`The server cannot be reached: ${reason}`, { cause: error });
}
