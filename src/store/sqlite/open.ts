import { statSync } from 'node:fs';
import { AppError } from '../../core/errors.ts';
import type { Store } from '../store.ts';
import { openReader, openWriter } from './database.ts';
import { migrate } from './migrate.ts';
import { createReadStreams } from './read-streams.ts';
import { createReadUrl } from './read-url.ts';
import { createSearch } from './search.ts';
import { createWriter } from './writer.ts';

/** The embedded store: one file, read on the calling thread, written on another. */
export function openSqliteStore(path: string): Store {
  prepare(path);
  const db = openReader(path);
  const writer = createWriter(path);
  const check = db.prepare<[number]>('select count(*) from migrations');
  const opened = statSync(path).ino;
  return {
    apply: writer.apply,
    ...createReadUrl(db),
    ...createReadStreams(db),
    search: createSearch(db),

    async ready() {
      check.get();
      // An open file goes on answering after it was moved away or replaced, with data that nobody will renew.
      const current = statSync(path, { throwIfNoEntry: false })?.ino;
      if (current !== opened) throw new AppError('unavailable', `${path} was removed or replaced: restart the server`);
    },

    async close() {
      // The reader first: the last one to leave folds the log back into the file, and only a writer can.
      db.close();
      await writer.close();
    },
  };
}

function prepare(path: string): void {
  const db = openWriter(path);
  try {
    migrate(db);
  } finally {
    db.close();
  }
}
