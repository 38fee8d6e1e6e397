import { createSessionStore } from '../accounts/sqlite/sessions.ts';
import { createAccountStore } from '../accounts/sqlite/store.ts';
import { createAuditStore } from '../audit/sqlite/audit.ts';
import { createSoftLimitStore } from '../audit/sqlite/soft-limit.ts';
import { createChangeStore } from '../changes/sqlite/store.ts';
import type { Part } from '../database/migrations.ts';
import { createDailyTaskStore } from '../database/sqlite/daily-tasks.ts';
import { type DatabaseFile, openDatabaseFile, shareDatabaseFile } from '../database/sqlite/database-file.ts';
import { createListStore } from '../exports/sqlite/store.ts';
import { createNodeStore } from '../health/sqlite/nodes.ts';
import { createFeedStore } from '../ingest/sqlite/feeds.ts';
import { createImportStore } from '../ingest/sqlite/imports.ts';
import { createUsageStore } from '../limits/sqlite/usage.ts';
import { createReputationStore } from '../reputation/sqlite/store.ts';
import type { CallTask } from '../threads/calls.ts';
import { workerEntry } from '../threads/worker-thread.ts';
import { createUrlStore } from '../urls/sqlite/store.ts';
import type { WritesOf } from './sqlite-writer.ts';

const WRITER = workerEntry('sqlite-writer', import.meta.url);

/** The writes of a database on its writer thread, which another thread of the process has started. */
export type WriteFor = (part: Part, name: string, args: unknown[]) => Promise<unknown>;

/** What the threads of a process share. */
type ThreadShare = {
  /** For every thread but the first one. */
  writeFor?: WriteFor;
  /** Created by `createKnownUrlsBuffer`. */
  knownUrls?: SharedArrayBuffer;
};

/** `isForImport`: for a command that imports, and calls `createIndexes` at its end. */
export type IntelligenceOptions = ThreadShare & { isForImport?: boolean };

function openFile<P extends Part>(
  part: P,
  path: string,
  writeFor: WriteFor | undefined,
  defersIndexes = false,
): DatabaseFile<WritesOf<P>> {
  if (writeFor === undefined) return openDatabaseFile(part, path, WRITER, defersIndexes);
  const write = (name: string, ...args: unknown[]) => writeFor(part, name, args);
  return shareDatabaseFile(part, path, write as CallTask<WritesOf<P>>);
}

/** Runs a write of another thread. */
function writesOf<Writes>({ write }: DatabaseFile<Writes>) {
  return (name: string, args: unknown[]): Promise<unknown> =>
    (write as (name: string, ...args: unknown[]) => Promise<unknown>)(name, ...args);
}

/** With `writeFor`, for a further thread of a process that has the database open. */
export function openSqliteIntelligence(path: string, options: IntelligenceOptions = {}) {
  const { writeFor, knownUrls, isForImport } = options;
  const file = openFile('intelligence', path, writeFor, isForImport);
  const check = file.db.prepare<[number]>('select count(*) from migrations');
  const reputation = createReputationStore(file);
  return {
    ...createUrlStore(file, knownUrls),
    ...reputation,
    ...createChangeStore(file, reputation),

    async ready() {
      check.get();
      file.checkFile();
      file.checkDisk(); // of `control.db` too, which is in the same folder
    },
    createIndexes: () => file.write('createIndexes'),
    freeBytes: file.freeBytes,
    write: writesOf(file),
    sizes: file.sizes,
    close: file.close,
  };
}

export function openSqliteControl(path: string, writeFor?: WriteFor) {
  const file = openFile('control', path, writeFor);
  const { closeLists, ...lists } = createListStore(file);
  return {
    ...createAccountStore(file),
    ...createSessionStore(file),
    ...createUsageStore(file),
    ...createDailyTaskStore(file),
    ...createFeedStore(file),
    ...createImportStore(file),
    ...createAuditStore(file),
    ...createSoftLimitStore(file),
    ...createNodeStore(file),
    ...lists,
    write: writesOf(file),
    sizes: file.sizes,
    async close() {
      await closeLists();
      await file.close();
    },
  };
}
