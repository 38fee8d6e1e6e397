import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataFiles } from '../../src/database/data-folder.ts';
import { bulkFill } from './bulk-fill.ts';
import { observationsAt } from './observations.ts';

/** The generated databases are kept here between runs; `--data DIR` selects another folder. */
export const DEFAULT_FOLDER = join(tmpdir(), 'urlwarden-bench');

/** Raise it when the generated data or the schema changes: the databases are then generated again. */
const DATA_VERSION = 3;

/** The data folder with this number of URLs. Generates it unless it exists: about a minute per million. */
export function dataDirOf(folder: string, urls: number, log: (text: string) => void): string {
  const dataDir = join(folder, `${urls}-urls-${DATA_VERSION}`);
  if (existsSync(dataDir)) return dataDir;
  log(`generating ${urls} URLs in ${dataDir}`);
  const unfinished = `${dataDir}-unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  bulkFill(dataFiles(unfinished).intelligence, allObservations(urls));
  renameSync(unfinished, dataDir);
  return dataDir;
}

export function* allObservations(urls: number) {
  for (let i = 0; i < urls; i++) yield observationsAt({ i, urls });
}
