import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../core/errors.ts';
import { openSqliteStore } from './sqlite/open.ts';
import type { Store } from './store.ts';

/** The folder holds password hashes and keys beside the data: nobody but its owner looks in. */
const FOLDER_MODE = 0o700;

export async function openStore(options: { dataDir: string }): Promise<Store> {
  makeFolder(options.dataDir);
  return openSqliteStore(join(options.dataDir, 'intelligence.db'));
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: FOLDER_MODE });
  } catch (error) {
    const { message } = error as Error;
    throw new AppError('unavailable', `The data folder ${path} cannot be made: ${message}`, { cause: error });
  }
}
