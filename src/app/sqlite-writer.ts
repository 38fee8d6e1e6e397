import { createSessionWrites } from '../accounts/sqlite/sessions.ts';
import { createAccountWrites } from '../accounts/sqlite/store.ts';
import { createAuditWrites } from '../audit/sqlite/audit.ts';
import { createSoftLimitWrites } from '../audit/sqlite/soft-limit.ts';
import { createChangeWrites } from '../changes/sqlite/writes.ts';
import type { Part } from '../database/migrations.ts';
import { createDailyTaskWrites } from '../database/sqlite/daily-tasks.ts';
import { type Database, openWriter } from '../database/sqlite/database.ts';
import type { WriterData } from '../database/sqlite/database-file.ts';
import { createDeferredIndexes, hasDeferredIndexes, waitForIndexes } from '../database/sqlite/deferred-indexes.ts';
import { createDictionaries } from '../database/sqlite/dictionaries.ts';
import { createListWrites } from '../exports/sqlite/store.ts';
import { createNodeWrites } from '../health/sqlite/nodes.ts';
import { createFeedWrites } from '../ingest/sqlite/feeds.ts';
import { createImportWrites } from '../ingest/sqlite/imports.ts';
import { createUsageWrites } from '../limits/sqlite/usage.ts';
import { createReputationWrites } from '../reputation/sqlite/writes.ts';
import { serveTasks } from '../threads/worker-thread.ts';
import { createUrlWrites } from '../urls/sqlite/writes.ts';

// The entry file of the writer thread of a database file.

/** KiB of pages in the writer's cache. URLs, hosts and addresses come in random order, so each row needs other pages. */
const INTELLIGENCE_CACHE_KIB = 32 * 1024;

/**
 * Pages in the write-ahead log before a checkpoint, 64 MB. A batch changes some thousand pages. With SQLite's default
 * of 1,000, and without the cache above, every commit waited for the disk: an import of 200,000 rows took 24 s, not 19.
 */
const INTELLIGENCE_CHECKPOINT_PAGES = 16_000;

/** The writes to each database file, as functions that run on its writer thread, each in a transaction. */
const WRITES = {
  intelligence(db: Database) {
    db.exec(`pragma cache_size = -${INTELLIGENCE_CACHE_KIB}`);
    db.exec(`pragma wal_autocheckpoint = ${INTELLIGENCE_CHECKPOINT_PAGES}`);
    if (hasDeferredIndexes(db)) waitForIndexes(db);
    const dictionaries = createDictionaries(db);
    return {
      ...createUrlWrites(db, dictionaries),
      ...createReputationWrites(db, dictionaries),
      ...createChangeWrites(db),
      createIndexes: () => createDeferredIndexes(db),
    };
  },
  control: (db: Database) => ({
    ...createAccountWrites(db),
    ...createSessionWrites(db),
    ...createUsageWrites(db),
    ...createDailyTaskWrites(db),
    ...createFeedWrites(db),
    ...createImportWrites(db),
    ...createAuditWrites(db),
    ...createSoftLimitWrites(db),
    ...createNodeWrites(db),
    ...createListWrites(db),
  }),
} satisfies Record<Part, unknown>;

export type WritesOf<P extends Part> = ReturnType<(typeof WRITES)[P]>;

serveTasks(({ part, path }: WriterData) => {
  const db = openWriter(path);
  return { tasks: WRITES[part](db), close: () => db.close() };
});
