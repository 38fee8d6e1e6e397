import { AppError } from '../../core/errors.ts';
import { isDiskFull } from './disk-space.ts';

// Result codes: https://www.sqlite.org/rescode.html. The lowest byte of an extended code is its primary code.

const READONLY = 8;
const IOERR = 10;
const CANTOPEN = 14;

/** CORRUPT and NOTADB. */
const DAMAGED = new Set([11, 26]);

/** FULL, and IOERR_SHMSIZE: the shared memory beside the database could not grow. */
const FULL = new Set([13, 4874]);

/**
 * Primary codes of problems with the file, the disk or other processes: PERM, BUSY, LOCKED, NOMEM, READONLY, IOERR,
 * CANTOPEN, PROTOCOL, NOLFS, AUTH. All other codes are bugs.
 */
const UNAVAILABLE = new Set([3, 5, 6, 7, READONLY, IOERR, CANTOPEN, 15, 22, 23]);

/** Converts an error of SQLite about the file at `path`; returns other errors unchanged. */
export function explained(error: unknown, path: string): unknown {
  const { message } = error as Error;
  // No stored number exceeds 2^53, so a number that the driver cannot represent is damaged.
  if ((error as { code?: unknown }).code === 'ERR_OUT_OF_RANGE') return damaged(path, message, error);
  const code = codeOf(error);
  if (code === null) return error;
  if (DAMAGED.has(code & 0xff)) return damaged(path, message, error);
  if (isSpaceFault(error, path)) {
    const advice = 'free some space, then try again; what is already stored stays';
    return new AppError('unavailable', `The disk of ${path} is full: ${advice}`, { cause: error });
  }
  if (!UNAVAILABLE.has(code & 0xff)) return error;
  if ((code & 0xff) === READONLY || (code & 0xff) === CANTOPEN) {
    const advice = 'check that this user may write to it, to the files beside it and to its folder';
    return new AppError('unavailable', `The database ${path} cannot be used (${message}): ${advice}`, { cause: error });
  }
  return new AppError('unavailable', `The database is unavailable: ${message}`, { cause: error });
}

/** For the operator. Clients get a 503 without this message. */
export function damaged(path: string, detail: string, cause?: unknown): AppError {
  return new AppError(
    'damaged',
    `${path} is damaged (${detail}). Stop the server, list the damage with: urlwarden integrity, and restore a backup into a new folder with: urlwarden restore`,
    { cause },
  );
}

/**
 * Whether the disk had no room for a write. SQLite reports it as such only for `write`; a failed `open` or `fsync` may
 * have other reasons.
 */
export function isSpaceFault(error: unknown, path: string): boolean {
  const code = codeOf(error instanceof AppError ? error.cause : error);
  if (code === null) return false;
  if (FULL.has(code & 0xff) || FULL.has(code)) return true;
  return ((code & 0xff) === IOERR || (code & 0xff) === CANTOPEN) && isDiskFull(path);
}

function codeOf(error: unknown): number | null {
  return (error as { errcode?: number } | null | undefined)?.errcode ?? null;
}
