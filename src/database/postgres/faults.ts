import postgres from 'postgres';
import { AppError } from '../../core/errors.ts';
import { certificateRefusal } from '../../core/tls-errors.ts';

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
export const CANCELLED = '57014';
export const LOCK_NOT_AVAILABLE = '55P03';

const SERIALIZATION_FAILURE = '40001';

/**
 * Serialization failure, deadlock, a row that another transaction has added since this one looked for it, and a cancel
 * request that was meant for the previous statement. A statement timeout has the same code as the last one; the elapsed
 * time distinguishes them.
 */
export const CONFLICTS = new Set([SERIALIZATION_FAILURE, '40P01', '23505', CANCELLED]);

/** Thrown in a transaction that cannot be completed because of what another one has written. It is repeated. */
export class TransactionConflict extends Error {
  readonly code = SERIALIZATION_FAILURE;
}

/**
 * Classes and codes of problems with the server, its disk, the network or other sessions: connection (08), failed
 * authentication (28), unknown database (3D), resources (53), stopped or cancelled by the server (57), internal
 * errors (58, XX), a standby (25006, 55000), idle in a transaction for too long (25P03), no rights (42501), no such
 * table (42P01), lock not available in time (55P03). All other codes are bugs.
 */
const UNAVAILABLE = /^(?:08|28|3D|53|57|58|XX|25006$|25P03$|42501$|42P01$|55000$|55P03$)/;

/**
 * Those of them that pass without an operator: connection, too many connections, stopped or cancelled by the server,
 * a standby, idle for too long, lock not available. A full disk, a refused password and internal errors stay.
 */
const TRANSIENT = /^(?:08|53300$|57|25006$|25P03$|55000$|55P03$)/;

/** After these the server closes the connection. */
const FATAL = /^(?:08|57P|25P03$)/;

/** Of a primary that became a standby: a write, and a function that needs the position in its log. */
const STANDBY = new Set(['25006', '55000']);

const NO_WRITES = 'PostgreSQL accepts no writes: it is a standby, or default_transaction_read_only is on';

const FORBIDDEN = '42501';
const NO_RIGHTS =
  'PostgreSQL refuses this role: make it the owner of the database and its tables, or give it all rights';

/** Somebody has replaced the database of a running server, or restores it. */
const UNDEFINED_TABLE = '42P01';
const NO_TABLES =
  'A table is missing in PostgreSQL: restore the database, or restart urlwarden to begin with an empty one';

/** Node says only this if a server without TLS is asked for it. */
const NO_HANDSHAKE = /before secure TLS connection was established/;
const NO_TLS = 'PostgreSQL ended the TLS handshake: if it has no TLS, remove sslmode from its URL';

/** Codes of the driver and of the network: the server, or something on the way to it, closed the connection. */
const CLOSED = new Set(['CONNECTION_CLOSED', 'CONNECTION_DESTROYED', 'ECONNRESET', 'EPIPE']);

export function codeOf(error: unknown): string {
  const cause = error instanceof AppError ? error.cause : error;
  return String((cause as { code?: unknown } | null)?.code ?? '');
}

/** Whether the server sent no response, not even an error. */
export function isTimeout(error: unknown): boolean {
  return error instanceof AppError && error.code === 'unavailable' && error.cause === undefined;
}

/** Whether the connection is unusable after the statement: closed by either side, or unresponsive. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof AppError) || error.code !== 'unavailable') return false;
  return !(error.cause instanceof postgres.PostgresError) || FATAL.test(error.cause.code);
}

/**
 * Whether another host may not have this problem, nor a new connection to this one: a session that began while
 * default_transaction_read_only was on accepts no writes after that either.
 */
export function isHostFailure(error: unknown): boolean {
  return isConnectionLost(error) || STANDBY.has(codeOf(error));
}

export function noResponse(cause?: unknown): AppError {
  return new AppError('unavailable', 'PostgreSQL does not respond', { cause, isTransient: true });
}

/** Converts an error of the server or the network to `unavailable`; returns other errors unchanged. */
export function explained(error: unknown): unknown {
  if (error instanceof AppError || error instanceof TransactionConflict) return error;
  const isServerError = error instanceof postgres.PostgresError;
  if (isServerError && !UNAVAILABLE.test(error.code)) return error;
  if (!isServerError && codeOf(error) === '') return error;
  const refusal = certificateRefusal(error);
  const message = refusal === null ? messageOf(error as Error) : `PostgreSQL ${refusal}`;
  const isTransient = refusal === null && (!isServerError || TRANSIENT.test(error.code));
  return new AppError('unavailable', message, { cause: error, isTransient });
}

/** The message of the server says what failed; for some errors it does not say why. */
function messageOf(error: Error): string {
  if (NO_HANDSHAKE.test(error.message)) return NO_TLS;
  const code = codeOf(error);
  if (CLOSED.has(code)) return `PostgreSQL closed the connection: its log may have the reason (${error.message})`;
  if (STANDBY.has(code)) return `${NO_WRITES} (${error.message})`;
  if (code === UNDEFINED_TABLE) return `${NO_TABLES} (${error.message})`;
  return code === FORBIDDEN ? `${NO_RIGHTS} (${error.message})` : `PostgreSQL: ${error.message}`;
}
