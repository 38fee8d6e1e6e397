import { openDatabase } from '../database/postgres/database.ts';
import { serveTasks } from '../threads/worker-thread.ts';
import { createApply } from '../urls/postgres/apply.ts';
import { createBackfillFamilies } from '../urls/postgres/files.ts';

// The entry file of the thread that writes the URLs of an import, while the main thread reads the next rows.

/** What the thread opens. */
export type WriterData = { url: string; connections: number };

const createWrites = (db: ReturnType<typeof openDatabase>) => ({
  apply: createApply(db, createBackfillFamilies(db)),
});

export type Writes = ReturnType<typeof createWrites>;

serveTasks(({ url, connections }: WriterData) => {
  const db = openDatabase(url, { connections, role: 'read-write' });
  // At once: an import that is stopped while the database does not respond leaves a batch behind.
  return { tasks: createWrites(db), closeAtOnce: db.close };
});
