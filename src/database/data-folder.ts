import { closeSync, existsSync, lchownSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { AppError } from '../core/errors.ts';

/** Data and backups contain password hashes and keys, so only the owner may read them. */
const FOLDER_MODE = 0o700;
export const FILE_MODE = 0o600;

/** The embedded databases of a data folder: intelligence, and control (accounts, usage, keys, feeds). */
export type DataFiles = { intelligence: string; control: string };

export function dataFiles(dataDir: string): DataFiles {
  return { intelligence: join(dataDir, 'intelligence.db'), control: join(dataDir, 'control.db') };
}

/** Names that the databases have until a restore is complete. */
export function partialFiles(dataDir: string): DataFiles {
  const { intelligence, control } = dataFiles(dataDir);
  return { intelligence: `${intelligence}.partial`, control: `${control}.partial` };
}

export function makeFolder(path: string): void {
  requireAccess(path);
  requireRestored(path);
  try {
    createFolders(resolve(path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EACCES')
      throw new AppError(
        'unavailable',
        `This user may not create the data folder ${path}: set another one with --data`,
        {
          cause: error,
        },
      );
    throw new AppError('unavailable', `The data folder ${path} cannot be created: ${message}`, { cause: error });
  }
}

/** Not `recursive` of Node, which tries without end where nothing can be created, as in /proc. */
function createFolders(path: string): void {
  if (isFolder(path)) return;
  createFolders(dirname(path));
  try {
    mkdirSync(path, { mode: FOLDER_MODE });
  } catch (error) {
    if (isFolder(path)) return; // another process has just created it
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new Error(`${path} is a file, or a link to a folder that does not exist`, { cause: error });
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Creates a file, or checks that this user may write to the one that exists. */
export function createDataFile(path: string): void {
  try {
    createNewFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    closeSync(openSync(path, 'a', FILE_MODE));
  }
}

/** Only its owner can read it. */
export function createNewFile(path: string): void {
  closeSync(openSync(path, 'wx', FILE_MODE));
  giveToOwner(path);
}

/** What root creates belongs to the owner of the folder: a server may have a user of its own. */
export function giveToOwner(path: string): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  try {
    lchownSync(path, uid, gid); // not through a link, which would give away another file
  } catch {
    // Root in a container may lack the right, and some file systems have no owners. The file can be used all the same.
  }
}

/** For commands that only read: they must not create a folder from a misspelt name. */
export function requireData(dataDir: string): void {
  requireAccess(dataDir);
  requireRestored(dataDir);
  if (Object.values(dataFiles(dataDir)).some((path) => existsSync(path))) return;
  throw new AppError('not_found', `There is no data in ${dataDir}: set the data folder with --data`);
}

/** To `existsSync`, a folder that this user may not open looks empty. */
function requireAccess(dataDir: string): void {
  try {
    statSync(dataFiles(dataDir).control, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES')
      throw noPermission(`open the data folder ${dataDir}`, error);
  }
}

/** A restore that was killed leaves nothing, or one database of two: a server would add what is missing, without accounts. */
function requireRestored(dataDir: string): void {
  if (!Object.values(partialFiles(dataDir)).some((path) => existsSync(path))) return;
  const problem = `${dataDir} is not complete: a restore into it is running, or was interrupted`;
  throw new AppError('unavailable', `${problem}. If none is running, empty the folder and restore again`);
}

/** The server often has a user of its own, and whoever types a command is another one. */
export function noPermission(action: string, cause: unknown): AppError {
  const advice = 'run this command as the user that the data belongs to, or as root';
  return new AppError('unavailable', `This user may not ${action}: ${advice}`, { cause });
}
