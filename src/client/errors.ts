// The errors of the client. None of them ever has a password or a token.

export type ErrorDetails = {
  status?: number | null;
  code?: number | null;
  requestId?: string | null;
  cause?: unknown;
};

export type RetryDetails = ErrorDetails & { retryAfterSeconds?: number | null; limit?: string | null };

export class UrlwardenError extends Error {
  override readonly name: string = 'UrlwardenError';
  /** The HTTP status; null if there was no response. */
  readonly status: number | null;
  /** The `code` of the response body; null if the body is not one of Urlwarden, such as the error page of a proxy. */
  readonly code: number | null;
  /** The `X-Request-Id` of the response. The log of the server has the same. */
  readonly requestId: string | null;

  constructor(message: string, { status = null, code = null, requestId = null, cause }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }
}

/** The username or password is wrong, or the token is not valid any more. */
export class AuthenticationError extends UrlwardenError {
  override readonly name = 'AuthenticationError';
}

/** The account is disabled, or its tier does not have the dataset. */
export class ForbiddenError extends UrlwardenError {
  override readonly name = 'ForbiddenError';
}

/** The request is wrong. The message says what to change. */
export class BadRequestError extends UrlwardenError {
  override readonly name = 'BadRequestError';
}

/** The only limit that is not waited for: it may last for weeks. */
export const MONTHLY_LIMIT = 'qmh';

/** A limit of the account is reached. */
export class LimitReachedError extends UrlwardenError {
  override readonly name = 'LimitReachedError';
  /** Such as `rl_qps` or `qmh`; null for logins, whose limit has no name. */
  readonly limit: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(message: string, { limit = null, retryAfterSeconds = null, ...details }: RetryDetails = {}) {
    super(message, details);
    this.limit = limit;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The server cannot be reached, cannot answer now, or took too long. */
export class UnavailableError extends UrlwardenError {
  override readonly name = 'UnavailableError';
  readonly retryAfterSeconds: number | null;

  constructor(message: string, { retryAfterSeconds = null, ...details }: RetryDetails = {}) {
    super(message, details);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A stream ended too early. What came before is right, but not all. */
export class TruncatedStreamError extends UrlwardenError {
  override readonly name = 'TruncatedStreamError';
}
