import { rmSync, statSync } from 'node:fs';
import { AppError } from '../../core/errors.ts';
import type { CallTask } from '../../threads/calls.ts';
import { createWorkerThread } from '../../threads/worker-thread.ts';
import { createDataFile, noPermission } from '../data-folder.ts';
import { type Migration, type Part, pendingMigrations, readMigrations } from '../migrations.ts';
import { type Database, openReader, type Reader, withWriter } from './database.ts';
import { createDeferredIndexes, deferIndexes, hasDeferredIndexes } from './deferred-indexes.ts';
import { freeBytes, isDiskFull, sizesOf } from './disk-space.ts';
import { damaged } from './faults.ts';

/** What a writer thread opens. */
export type WriterData = { part: Part; path: string };

/** A database file of the data folder. `Writes` are the tasks of its writer thread. */
export type DatabaseFile<Writes> = {
  /** Reads, on the calling thread. */
  db: Reader;
  /**
   * Writes run on a separate thread, because waiting for a transaction of another process would block all requests.
   * A read after a write sees it.
   */
  write: CallTask<Writes>;
  /** Throws if the file was moved or replaced: the open file would return data that never changes. */
  checkFile(): void;
  /** The free space of its disk; null if the file system does not report it. */
  freeBytes(): number | null;
  /** For metrics. */
  sizes(): { database: string; fileBytes: number; walBytes: number };
  /** Throws `not_ready` if nothing can be written because the disk is full. */
  checkDisk(): void;
  close(): Promise<void>;
};

/**
 * `writer` is the entry file of the writer thread. `defersIndexes`: for an import, which has to create the indexes of an empty
 * database at its end (`deferred-indexes.ts`).
 */
export function openDatabaseFile<Writes>(
  part: Part,
  path: string,
  writer: URL,
  defersIndexes = false,
): DatabaseFile<Writes> {
  prepareDatabaseFile(part, path);
  if (defersIndexes) deferIndexes(path);
  const file = fileWith(part, path, createWorkerThread<Writes>(writer, { part, path } satisfies WriterData));
  // An import may have dropped indexes since the file was prepared. With this first read it is open, and none can any more.
  if (!defersIndexes && hasDeferredIndexes(file.db)) {
    prepareDatabaseFile(part, path);
    file.db.renew();
  }
  return file;
}

/** A file that another thread of this process has open, and whose writes run on the writer thread of that one. */
export function shareDatabaseFile<Writes>(part: Part, path: string, write: CallTask<Writes>): DatabaseFile<Writes> {
  return fileWith(part, path, { call: write, close: async () => {} });
}

type Writer<Writes> = { call: CallTask<Writes>; close(): Promise<void> };

function fileWith<Writes>(part: Part, path: string, thread: Writer<Writes>): DatabaseFile<Writes> {
  const db = openReader(path);
  const openedInode = statSync(path).ino;
  return {
    db,
    write: (name, ...args) => thread.call(name, ...args).finally(db.renew),

    checkFile() {
      const inode = statSync(path, { throwIfNoEntry: false })?.ino;
      if (inode !== openedInode) {
        throw new AppError('unavailable', `${path} was removed or replaced: restart the server`);
      }
    },

    freeBytes: () => freeBytes(path),

    sizes: () => ({ database: part, ...sizesOf(path) }),

    checkDisk() {
      if (isDiskFull(path)) {
        throw new AppError('not_ready', 'The disk is full: accounts and counters cannot be written');
      }
    },

    async close() {
      // The writer closes last: the last connection runs the final checkpoint, which a reader cannot.
      db.close();
      await thread.close();
    },
  };
}

/** A new file has no content until its creator, or another process, has opened it: some milliseconds. */
const NEW_FILE_MS = 10_000;

/** Creates the file if it is missing, creates indexes that an interrupted import left out, and applies pending migrations. */
export function prepareDatabaseFile(part: Part, path: string): void {
  refuseEmptied(path);
  createFile(path);
  try {
    withWriter(path, (db) => {
      completeIndexes(db, path);
      migrate(db, part);
    });
  } catch (error) {
    if (statSync(path).size === 0) rmSync(path); // later it would look like a file that lost its content
    throw error;
  }
}

/** Before the migrations, which may change an index. */
function completeIndexes(db: Database, path: string): void {
  if (!hasDeferredIndexes(db)) return;
  process.stderr.write(`Creating the indexes of ${path}: an import was interrupted, or is still running\n`);
  createDeferredIndexes(db);
}

/** SQLite takes an empty file for a new database, so a file that lost its content would answer that nothing is known. */
function refuseEmptied(path: string): void {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file?.size !== 0 || Date.now() - file.mtimeMs < NEW_FILE_MS) return;
  throw damaged(path, 'it is empty; if the folder is new, delete this file');
}

/** SQLite would make the file readable by all users. The log and the shared memory get the mode of the file. */
function createFile(path: string): void {
  try {
    createDataFile(path);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EACCES') throw noPermission(`write to the database ${path}`, cause);
    throw new AppError('unavailable', `The database cannot be opened: ${message}`, { cause });
  }
}

/** Applies pending migrations. If several processes start at the same time, the write lock admits one of them. */
export function migrate(db: Database, part: Part): void {
  db.exec(`create table if not exists migrations (
    number integer primary key, name text not null, breaking integer not null, applied_ts integer not null) strict`);
  const known = readMigrations('sqlite', part);
  if (pendingIn(db, known).length === 0) return;
  db.batch(() => {
    const record = db.prepare('insert into migrations values (?, ?, ?, unixepoch())');
    for (const migration of pendingIn(db, known)) {
      db.exec(migration.sql);
      record.run(migration.number, migration.name, Number(migration.isBreaking));
    }
  });
}

function pendingIn(db: Database, known: readonly Migration[]): Migration[] {
  const applied = db.prepare<[number, string, number]>('select number, name, breaking from migrations').all();
  return pendingMigrations(
    known,
    applied.map(([number, name, breaking]) => ({ number, name, isBreaking: breaking === 1 })),
  );
}
