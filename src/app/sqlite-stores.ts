import { createSessionStore } from '../accounts/sqlite/sessions.ts';
import { createAccountStore } from '../accounts/sqlite/store.ts';
import { createAuditStore } from '../audit/sqlite/audit.ts';
import { createSoftLimitStore } from '../audit/sqlite/soft-limit.ts';
import type { Part } from '../database/migrations.ts';
import { openDatabaseFile } from '../database/sqlite/database-file.ts';
import { createNodeStore } from '../health/sqlite/nodes.ts';
import { createFeedStore } from '../ingest/sqlite/feeds.ts';
import { createImportStore } from '../ingest/sqlite/imports.ts';
import { createUsageStore } from '../limits/sqlite/usage.ts';
import { createReputationStore } from '../reputation/sqlite/store.ts';
import { workerEntry } from '../threads/worker-thread.ts';
import { createUrlStore } from '../urls/sqlite/store.ts';
import type { WritesOf } from './sqlite-writer.ts';

const WRITER = workerEntry('sqlite-writer', import.meta.url);

const openFile = <P extends Part>(part: P, path: string) => openDatabaseFile<WritesOf<P>>(part, path, WRITER);

export function openSqliteIntelligence(path: string) {
  const file = openFile('intelligence', path);
  const check = file.db.prepare<[number]>('select count(*) from migrations');
  return {
    ...createUrlStore(file),
    ...createReputationStore(file),

    async ready() {
      check.get();
      file.checkFile();
      file.checkDisk(); // of `control.db` too, which is in the same folder
    },
    freeBytes: file.freeBytes,
    sizes: file.sizes,
    close: file.close,
  };
}

export function openSqliteControl(path: string) {
  const file = openFile('control', path);
  return {
    ...createAccountStore(file),
    ...createSessionStore(file),
    ...createUsageStore(file),
    ...createFeedStore(file),
    ...createImportStore(file),
    ...createAuditStore(file),
    ...createSoftLimitStore(file),
    ...createNodeStore(file),
    sizes: file.sizes,
    close: file.close,
  };
}
