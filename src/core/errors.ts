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
  | 'unavailable';

/** A refusal with a reason that may be shown to the caller. Anything else that is thrown is a defect of ours. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; retryAfterSeconds?: number } = {}) {
    super(message, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
