import { closeSync, existsSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError, badRequest } from '../core/errors.ts';
import { createNewFile, dataFiles, FILE_MODE, makeFolder, partialFiles, requireData } from './data-folder.ts';
import { backupSqlite, restoreSqlite } from './sqlite/backup.ts';

/** `onProgress` receives the share that is copied. After 1 the copy is checked, which takes about as long again. */
type BackupOptions = { dataDir: string; file: string; onProgress?(share: number): void };

/** Writes the data of a folder to one file while servers keep running. The file gets its name only when it is complete. */
export async function backupData({ dataDir, file, onProgress = () => {} }: BackupOptions): Promise<void> {
  const files = dataFiles(dataDir);
  requireData(dataDir);
  if (existsSync(file)) throw badRequest(`${file} already exists: choose another name, or remove it`);
  const folder = dirname(file);
  if (!existsSync(folder)) throw new AppError('not_found', `There is no folder ${folder}: create it first`);
  const partial = `${file}.${process.pid}.partial`;
  await explained(`The backup ${file} cannot be written`, async () => {
    try {
      closeSync(openSync(partial, 'wx', FILE_MODE));
      await backupSqlite(files, partial, onProgress);
      renameSync(partial, file);
    } finally {
      removeDatabase(partial);
    }
  });
}

/**
 * Creates a data folder from a backup. The databases get their names only when both are complete, and the folder is not
 * used while one of them has its other name.
 */
export async function restoreData({ file, dataDir }: { file: string; dataDir: string }): Promise<void> {
  if (!existsSync(file)) throw new AppError('not_found', `There is no file ${file}`);
  if (!statSync(file).isFile()) throw badRequest(`${file} is not a file: name the backup in it`);
  makeFolder(dataDir);
  if (readdirSync(dataDir).length > 0) {
    throw badRequest(`${dataDir} is not empty: restore into a new folder, or empty this one`);
  }
  const [files, partial] = [dataFiles(dataDir), partialFiles(dataDir)];
  await explained(`${file} cannot be restored`, async () => {
    try {
      for (const path of Object.values(partial)) createNewFile(path);
      restoreSqlite(file, partial);
      renameSync(partial.intelligence, files.intelligence);
      renameSync(partial.control, files.control);
    } catch (error) {
      // The folder was empty. One database of two would look complete: a server would add the other.
      for (const path of [...Object.values(files), ...Object.values(partial)]) removeDatabase(path);
      throw error;
    }
  });
}

function removeDatabase(path: string): void {
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
}

/** Begins the message of an expected error (disk, SQLite, not a backup) with the problem. Bugs are thrown unchanged. */
async function explained(problem: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    const isExpected = cause instanceof AppError || (cause instanceof Error && 'syscall' in cause);
    if (!isExpected) throw cause;
    const code = cause instanceof AppError ? cause.code : 'unavailable';
    throw new AppError(code, `${problem}: ${cause.message}`, { cause });
  }
}
