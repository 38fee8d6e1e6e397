import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataFiles } from '../../src/database/data-folder.ts';
import { bulkFill } from './bulk-fill.ts';
import { observationsAt } from './observations.ts';

/** Where the made-up databases are kept between runs; `--data DIR` names another place. */
export const DEFAULT_FOLDER = join(tmpdir(), 'urlwarden-bench');

/** Raised when the world or the way it is written changes: older databases are then made again. */
const GENERATION = 3;

/** The data folder with so many URLs, made when it is not there: about a minute a million. */
export function dataDirOf(folder: string, urls: number, say: (text: string) => void): string {
  const dataDir = join(folder, `${urls}-urls-${GENERATION}`);
  if (existsSync(dataDir)) return dataDir;
  say(`making ${urls} URLs in ${dataDir}`);
  const unfinished = `${dataDir}-unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  bulkFill(dataFiles(unfinished).intelligence, world(urls));
  renameSync(unfinished, dataDir);
  return dataDir;
}

export function* world(urls: number) {
  for (let i = 0; i < urls; i++) yield observationsAt({ i, urls });
}
