import { AppError } from '../core/errors.ts';

const SCHEME = 'Bearer';

/** RFC 9110 section 11.4: the scheme in any letter case, spaces, the token. */
const CREDENTIALS = /^bearer(?: +(.*))?$/i;

/** The token of an Authorization header, valid or not. Throws `unauthorized` when the header has no token. */
export function bearerToken(authorization: string | undefined): string {
  const match = authorization === undefined ? null : CREDENTIALS.exec(authorization);
  if (match === null) throw tokenMissing();
  return match[1] ?? '';
}

/** The header in its usual spelling. */
export function authorizationOf(token: string): string {
  return `${SCHEME} ${token}`;
}

/** RFC 6750 section 3.1: without a token, or with another scheme, the challenge has the scheme and no error. */
function tokenMissing(): AppError {
  const message = 'Send the header Authorization: Bearer, a space, and the token that login returned';
  return new AppError('unauthorized', message, { challenge: SCHEME });
}

export function tokenInvalid(): AppError {
  // The message is part of a quoted string: RFC 6750 section 3 forbids quotes and backslashes in it.
  const message = 'The token is malformed, expired or revoked; log in again';
  const challenge = `${SCHEME} error="invalid_token", error_description="${message}"`;
  return new AppError('unauthorized', message, { challenge });
}

/** The same message for every reason, so that it does not reveal which usernames exist. */
export function loginFailed(): AppError {
  return new AppError('unauthorized', 'Authentication failed', { challenge: SCHEME });
}
