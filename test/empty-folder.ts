import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type DataFiles, dataFiles, FILE_MODE } from '../src/database/data-folder.ts';
import { prepareDatabaseFile } from '../src/database/sqlite/database-file.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Of empty databases, by part. Made once, so that the migrations do not run for every test. */
let emptyFiles: Record<keyof DataFiles, Buffer> | undefined;

function makeEmptyFiles() {
  const folder = mkdtempSync(join(tmpdir(), 'urlwarden-test-empty-'));
  try {
    const { intelligence, control } = dataFiles(folder);
    prepareDatabaseFile('intelligence', intelligence);
    prepareDatabaseFile('control', control);
    return { intelligence: readFileSync(intelligence), control: readFileSync(control) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A data folder with empty databases, removed after the test. */
export function emptyDataFolder(t: TestContext): string {
  emptyFiles ??= makeEmptyFiles();
  const folder = temporaryFolder(t);
  const { intelligence, control } = dataFiles(folder);
  writeFileSync(intelligence, emptyFiles.intelligence, { mode: FILE_MODE });
  writeFileSync(control, emptyFiles.control, { mode: FILE_MODE });
  return folder;
}
