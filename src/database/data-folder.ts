import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../core/errors.ts';

/** Data and backups contain password hashes and keys, so only the owner may read them. */
const FOLDER_MODE = 0o700;
export const FILE_MODE = 0o600;

/** The embedded databases of a data folder: intelligence, and control (accounts, usage, keys, feeds). */
export type DataFiles = { intelligence: string; control: string };

export function dataFiles(dataDir: string): DataFiles {
  return { intelligence: join(dataDir, 'intelligence.db'), control: join(dataDir, 'control.db') };
}

export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: FOLDER_MODE });
  } catch (error) {
    const { message } = error as Error;
    throw new AppError('unavailable', `The data folder ${path} cannot be created: ${message}`, { cause: error });
  }
}

/** For commands that only read: they must not create a folder from a misspelt name. */
export function requireData(dataDir: string): void {
  if (Object.values(dataFiles(dataDir)).some((path) => existsSync(path))) return;
  throw new AppError('not_found', `There is no data in ${dataDir}: set the data folder with --data`);
}
