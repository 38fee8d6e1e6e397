/** What can go wrong for a caller. Only `http/errors.ts` knows which status number each one has on the wire. */
export type ErrorCode =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'timed_out'
  | 'body_too_large'
  | 'headers_too_large'
  | 'expectation_failed'
  | 'limit_reached'
  /** Refused on purpose, because there is too much to do or because of what is logged already: it is not logged. */
  | 'overloaded'
  | 'unavailable';

export type AppErrorOptions = { cause?: unknown; retryAfterSeconds?: number; challenge?: string; limit?: string };

/** A refusal with a reason that may be shown to the caller. Anything else that is thrown is a defect of ours. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;
  /** With `unauthorized`: what to tell about the way to authenticate, the value of `WWW-Authenticate`. */
  readonly challenge: string | undefined;
  /** With `limit_reached`: the name that the limit has on the wire. */
  readonly limit: string | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    // Where a refusal comes from is plain from its words, and writing down the stack was 7 % of answering 404.
    // `unavailable` is logged, so it keeps its own.
    const limit = Error.stackTraceLimit;
    if (code !== 'unavailable') Error.stackTraceLimit = 0;
    super(message, { cause: options.cause });
    Error.stackTraceLimit = limit;
    this.name = 'AppError';
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.challenge = options.challenge;
    this.limit = options.limit;
  }
}
