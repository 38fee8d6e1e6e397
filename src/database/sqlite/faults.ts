import { AppError } from '../../core/errors.ts';

// Result codes: https://www.sqlite.org/rescode.html. The lowest byte of an extended code is its primary code.

/** CORRUPT and NOTADB. */
const DAMAGED = new Set([11, 26]);

/**
 * Primary codes of problems with the file, the disk or other processes: PERM, BUSY, LOCKED, NOMEM, READONLY, IOERR,
 * FULL, CANTOPEN, PROTOCOL, NOLFS, AUTH. All other codes are bugs.
 */
const UNAVAILABLE = new Set([3, 5, 6, 7, 8, 10, 13, 14, 15, 22, 23]);

/** Converts an error of SQLite about the file at `path`; returns other errors unchanged. */
export function explained(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (code === null) return error;
  const { message } = error as Error;
  if (DAMAGED.has(code & 0xff)) return damaged(path, message, error);
  if (!UNAVAILABLE.has(code & 0xff)) return error;
  return new AppError('unavailable', `The database is unavailable: ${message}`, { cause: error });
}

/** For the operator. Clients get a 503 without this message. */
export function damaged(path: string, detail: string, cause?: unknown): AppError {
  return new AppError(
    'damaged',
    `${path} is damaged (${detail}). Stop the server, see the extent with: urlwarden integrity, and restore a backup into a new folder with: urlwarden restore`,
    { cause },
  );
}

function codeOf(error: unknown): number | null {
  return (error as { errcode?: number } | null | undefined)?.errcode ?? null;
}
