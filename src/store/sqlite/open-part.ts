import { closeSync, openSync, statSync } from 'node:fs';
import { AppError } from '../../core/errors.ts';
import { FILE_MODE } from '../data-folder.ts';
import type { Part } from '../migrations.ts';
import { openReader, withWriter } from './database.ts';
import { migrate } from './migrate.ts';
import { createWriter } from './writer.ts';

/** A database of the data folder: read on the calling thread, written on another. */
export function openPart<P extends Part>(part: P, path: string) {
  preparePart(part, path);
  const db = openReader(path);
  const writer = createWriter(part, path);
  const opened = statSync(path).ino;
  return {
    db,

    /** Who reads after a write sees it, also in the turn in which another read came before. */
    write: ((name, ...args) => writer.write(name, ...args).finally(db.renew)) as typeof writer.write,

    /** An open file goes on answering after it was moved away or replaced, with data that nobody will renew. */
    checkFile(): void {
      const current = statSync(path, { throwIfNoEntry: false })?.ino;
      if (current !== opened) throw new AppError('unavailable', `${path} was removed or replaced: restart the server`);
    },

    async close(): Promise<void> {
      // The reader first: the last one to leave folds the log back into the file, and only a writer can.
      db.close();
      await writer.close();
    },
  };
}

/** Makes the file when it is missing and brings it to this program's schema. */
export function preparePart(part: Part, path: string): void {
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
