import postgres from 'postgres';
import { AppError } from '../../core/errors.ts';

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
export const CANCELLED = '57014';

/**
 * Serialization failure, deadlock; and cancelled, when it was meant for the statement before. One that ran into its own
 * time-out has the same code, and is told by the time.
 */
export const CONFLICTS = new Set(['40001', '40P01', CANCELLED]);

/**
 * Classes and codes that say something about the server, its disk, the network or other sessions: connection (08),
 * refused sign-in (28), unknown database (3D), resources (53), stopped or cancelled by the server (57), its own
 * errors (58, XX); read-only (25006: a primary that became a standby), too long idle in a transaction (25P03), a lock
 * not had in time (55P03). All others are mistakes of ours.
 */
const UNAVAILABLE = /^(?:08|28|3D|53|57|58|XX|25006$|25P03$|55P03$)/;

/** After these the server closes the connection. */
const FATAL = /^(?:08|57P|25P03$)/;

const READ_ONLY = '25006';

export function codeOf(error: unknown): string {
  const cause = error instanceof AppError ? error.cause : error;
  return String((cause as { code?: unknown } | null)?.code ?? '');
}

/** Nothing came, not even a refusal. */
export function isSilence(error: unknown): boolean {
  return error instanceof AppError && error.code === 'unavailable' && error.cause === undefined;
}

/** Whether the connection has gone with the statement: closed by either side, or silent. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof AppError) || error.code !== 'unavailable') return false;
  return !(error.cause instanceof postgres.PostgresError) || FATAL.test(error.cause.code);
}

/** Whether another host may do better. */
export function isOfHost(error: unknown): boolean {
  return isLost(error) || codeOf(error) === READ_ONLY;
}

/** A fault of the server or the way to it becomes `unavailable`; what is ours stays as it is. */
export function explained(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const isOfServer = error instanceof postgres.PostgresError;
  if (isOfServer && !UNAVAILABLE.test(error.code)) return error;
  if (!isOfServer && codeOf(error) === '') return error;
  return new AppError('unavailable', `PostgreSQL: ${(error as Error).message}`, { cause: error });
}
