import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openIntelligence } from '../../src/app/stores.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { bulkFill } from './bulk-fill.ts';
import { BENCH_SOURCE, domainObservations, LISTINGS, listingBatches } from './evidence.ts';
import { observationsAt } from './observations.ts';

/** The generated databases are kept here between runs; `--data DIR` selects another folder. */
export const DEFAULT_FOLDER = join(tmpdir(), 'urlwarden-bench');

/** Raise it when the generated data or the schema changes: the databases are then generated again. */
const DATA_VERSION = 3;

type Log = (text: string) => void;

/** The data folder with this number of URLs. Generates it unless it exists: about a minute per million. */
export function dataDirOf(folder: string, urls: number, log: Log): string {
  const dataDir = join(folder, `${urls}-urls-${DATA_VERSION}`);
  if (existsSync(dataDir)) return dataDir;
  const unfinished = emptyFolder(dataDir, `${urls} URLs`, log);
  bulkFill(dataFiles(unfinished).intelligence, allObservations(urls));
  renameSync(unfinished, dataDir);
  return dataDir;
}

/** The data folder with two million listings, applied by the store: some minutes. */
export async function listingsDirOf(folder: string, log: Log): Promise<string> {
  const dataDir = join(folder, `${LISTINGS}-listings-${DATA_VERSION}`);
  if (existsSync(dataDir)) return dataDir;
  const unfinished = emptyFolder(dataDir, `${LISTINGS} listings`, log);
  const store = await openIntelligence({ dataDir: unfinished });
  try {
    await store.putSources([BENCH_SOURCE]);
    for (const batch of listingBatches()) await store.applyListings(batch);
  } finally {
    await store.close();
  }
  renameSync(unfinished, dataDir);
  return dataDir;
}

/** The data folder with domains of many URLs, applied by the store. */
export async function domainsDirOf(folder: string, log: Log): Promise<string> {
  const dataDir = join(folder, `domains-${DATA_VERSION}`);
  if (existsSync(dataDir)) return dataDir;
  const unfinished = emptyFolder(dataDir, 'domains', log);
  const store = await openIntelligence({ dataDir: unfinished });
  try {
    for (const batch of domainObservations()) await store.apply(batch);
  } finally {
    await store.close();
  }
  renameSync(unfinished, dataDir);
  return dataDir;
}

/** It is renamed when it is complete, so that an interrupted run leaves nothing that looks complete. */
function emptyFolder(dataDir: string, content: string, log: Log): string {
  log(`generating ${content} in ${dataDir}`);
  const unfinished = `${dataDir}-unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  return unfinished;
}

export function* allObservations(urls: number) {
  for (let i = 0; i < urls; i++) yield observationsAt({ i, urls });
}
