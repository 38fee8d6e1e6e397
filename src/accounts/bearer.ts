import { AppError } from '../core/errors.ts';

const SCHEME = 'Bearer';

/** RFC 9110 section 11.4: the name of the scheme in any case, spaces, the token. */
const CREDENTIALS = /^bearer(?: +(.*))?$/i;

/** The token of an Authorization header, good or not; throws `unauthorized` when none was sent. */
export function bearerToken(authorization: string | undefined): string {
  const match = authorization === undefined ? null : CREDENTIALS.exec(authorization);
  if (match === null) throw tokenMissing();
  return match[1] ?? '';
}

/** The header as most clients write it. */
export function authorizationOf(token: string): string {
  return `${SCHEME} ${token}`;
}

/** RFC 6750 section 3.1: who sent no token, or tried another scheme, is told the scheme and no error. */
function tokenMissing(): AppError {
  const message = 'Send the header Authorization: Bearer, a space, and the token that login gave you';
  return new AppError('unauthorized', message, { challenge: SCHEME });
}

export function tokenInvalid(): AppError {
  // Goes into a quoted string, where RFC 6750 section 3 allows neither quotes nor backslashes.
  const message = 'The token is malformed, expired or revoked; log in again';
  const challenge = `${SCHEME} error="invalid_token", error_description="${message}"`;
  return new AppError('unauthorized', message, { challenge });
}

/** The same words for every reason, so that nobody learns which usernames exist. */
export function loginFailed(): AppError {
  return new AppError('unauthorized', 'Authentication failed', { challenge: SCHEME });
}
