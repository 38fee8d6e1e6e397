/** Why a request is refused. Only `http/errors.ts` maps a code to an HTTP status. */
export type ErrorCode =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  /** It was there, and is not any more. */
  | 'gone'
  | 'method_not_allowed'
  /** Somebody else has changed the same thing meanwhile. */
  | 'conflict'
  | 'timed_out'
  | 'body_too_large'
  | 'headers_too_large'
  | 'expectation_failed'
  | 'limit_reached'
  /** A deliberate refusal under load, or during an outage that is already logged. It is not logged itself. */
  | 'overloaded'
  /** For `/readyz`. Its message is sent to the client, unlike that of any other 503. */
  | 'not_ready'
  /** A part of the database cannot be read because its file is damaged. */
  | 'damaged'
  | 'unavailable';

type AppErrorOptions = {
  cause?: unknown;
  isTransient?: boolean;
  retryAfterSeconds?: number;
  challenge?: string;
  limit?: string;
};

/** A refusal whose message may be shown to the client. Every other thrown error is a bug. */
export class AppError extends Error {
  readonly code: ErrorCode;
  /** With `unavailable`: the same call may succeed soon, for example after a failover. Not so for a full disk. */
  readonly isTransient: boolean;
  readonly retryAfterSeconds: number | undefined;
  /** With `unauthorized`: the value of the `WWW-Authenticate` header. */
  readonly challenge: string | undefined;
  /** With `limit_reached`: the name of the limit in the API. */
  readonly limit: string | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    // The message of a refusal identifies its source, and capturing the stack took 7 % of a 404 response.
    // `unavailable` and `damaged` are logged, so they keep their stack.
    const limit = Error.stackTraceLimit;
    if (code !== 'unavailable' && code !== 'damaged') Error.stackTraceLimit = 0;
    super(message, { cause: options.cause });
    Error.stackTraceLimit = limit;
    this.name = 'AppError';
    this.code = code;
    this.isTransient = options.isTransient ?? false;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.challenge = options.challenge;
    this.limit = options.limit;
  }
}

export const isTransient = (error: unknown): error is AppError => error instanceof AppError && error.isTransient;

/** What was sent or given is wrong; the message says what. */
export const badRequest = (message: string): AppError => new AppError('bad_request', message);
