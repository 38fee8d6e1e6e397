import { closeSync, openSync, statSync } from 'node:fs';
import { AppError } from '../../core/errors.ts';
import { type CallTask, createWorkerThread } from '../../threads/worker-thread.ts';
import { FILE_MODE } from '../data-folder.ts';
import { type Migration, type Part, pendingMigrations, readMigrations } from '../migrations.ts';
import { type Database, openReader, type Reader, withWriter } from './database.ts';

/** What the entry file of a writer thread gets as its `workerData`. */
export type WriterData = { part: Part; path: string };

/** A database file of the data folder. `Writes` are the tasks of its writer thread. */
export type DatabaseFile<Writes> = {
  /** Reads, on the calling thread. */
  db: Reader;
  /**
   * Writes happen on a thread of their own: a wait for the transaction of another process would block every answer of
   * this one. A read after a write sees it.
   */
  write: CallTask<Writes>;
  /** Throws when the file was moved or replaced: an open file would go on answering with data that never changes. */
  checkFile(): void;
  close(): Promise<void>;
};

/** `writer` is the entry file of the writer thread. */
export function openDatabaseFile<Writes>(part: Part, path: string, writer: URL): DatabaseFile<Writes> {
  prepareDatabaseFile(part, path);
  const db = openReader(path);
  const thread = createWorkerThread<Writes>(writer, { part, path } satisfies WriterData);
  const opened = statSync(path).ino;
  return {
    db,
    write: (name, ...args) => thread.call(name, ...args).finally(db.renew),

    checkFile() {
      const current = statSync(path, { throwIfNoEntry: false })?.ino;
      if (current !== opened) throw new AppError('unavailable', `${path} was removed or replaced: restart the server`);
    },

    async close() {
      // The reader first: the last connection to close writes the log back into the file, and only a writer can.
      db.close();
      await thread.close();
    },
  };
}

/** Makes the file when it is missing and brings it to this program's schema. */
export function prepareDatabaseFile(part: Part, path: string): void {
  makeFile(path);
  withWriter(path, (db) => migrate(db, part));
}

/** SQLite would make it readable by all; its log and shared memory take the mode of the file. */
function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'a', FILE_MODE));
  } catch (cause) {
    throw new AppError('unavailable', `The database cannot be opened: ${(cause as Error).message}`, { cause });
  }
}

/** Brings the database to this program's schema. Several processes may race: the write lock lets one of them through. */
export function migrate(db: Database, part: Part): void {
  db.exec(`create table if not exists migrations (
    number integer primary key, name text not null, breaking integer not null, applied_ts integer not null) strict`);
  const known = readMigrations('sqlite', part);
  if (pendingIn(db, known).length === 0) return;
  db.transaction(() => {
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
