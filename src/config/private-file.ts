import { readFileSync, statSync } from 'node:fs';
import { AppError } from '../core/errors.ts';

/** Read, write and execute permissions of everyone but the owner. */
const OTHER_USERS = 0o077;

/** Reads a file with secrets, which other users must not be able to read. `what` is what it holds: "signing keys". */
export function readPrivateFile(path: string, what: string): string {
  try {
    const { mode } = statSync(path);
    if ((mode & OTHER_USERS) === 0) return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new AppError('unavailable', `The ${what} cannot be read: ${(cause as Error).message}`, { cause });
  }
  // Not the advice below: with this mode nobody could open the folder.
  if (statSync(path).isDirectory()) throw new AppError('unavailable', `${path} is a folder, not a file with ${what}`);
  throw new AppError('unavailable', `${path} holds ${what} and is open to other users: run chmod 600 on it`);
}
