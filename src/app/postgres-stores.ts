import { setFlagsFromString } from 'node:v8';
import { createSessionStore } from '../accounts/postgres/sessions.ts';
import { createAccountStore } from '../accounts/postgres/store.ts';
import { createAuditStore } from '../audit/postgres/audit.ts';
import { createSoftLimitStore } from '../audit/postgres/soft-limit.ts';
import { createChangeStore } from '../changes/postgres/store.ts';
import { readMigrations } from '../database/migrations.ts';
import { createDailyTaskStore } from '../database/postgres/daily-tasks.ts';
import { type Database, openDatabase } from '../database/postgres/database.ts';
import { createReads } from '../database/postgres/replicas.ts';
import { migrate, refuseHalfMoved, requireMigrated } from '../database/postgres/schema.ts';
import { createListStore } from '../exports/postgres/store.ts';
import { createNodeStore } from '../health/postgres/nodes.ts';
import { createFeedStore } from '../ingest/postgres/feeds.ts';
import { createImportStore } from '../ingest/postgres/imports.ts';
import { createUsageStore } from '../limits/postgres/usage.ts';
import type { PoolLoad } from '../metrics/database-gauges.ts';
import { createReputationStore } from '../reputation/postgres/store.ts';
import { createWorkerThread, workerEntry } from '../threads/worker-thread.ts';
import { packBatch } from '../urls/packed-groups.ts';
import { createUrlStore } from '../urls/postgres/store.ts';
import type { UrlStore } from '../urls/store.ts';
import type { WriterData, Writes } from './postgres-writer.ts';

type PostgresOptions = {
  /** Of several hosts, the one that accepts writes is used. */
  url: string;
  /** Replicas, for lookups and searches. */
  readUrls: readonly string[];
  /** Maximum of open connections to each server. */
  connections: number;
  /** For a command that imports, whose connections nobody else uses. */
  isForImport?: boolean | undefined;
};

/** Shorter than for the primary: after a replica, another server can be tried. */
const REPLICA_WAIT_MS = 2_000;

const WRITER = workerEntry('postgres-writer', import.meta.url);

/**
 * Batches that an import writes at the same time, and observations in each. Larger than those of a server, whose lookups would
 * wait: PostgreSQL takes a quarter less time for each row than with 2,000 (docs/decisions/import.md).
 */
const IMPORT_BATCHES = 2;
const IMPORT_BATCH_SIZE = 6_000;

/** Megabytes for new objects of the thread that writes. With the 8 of this process more of a batch is copied. */
const WRITER_NEW_SPACE_MB = 16;

/** The version of the accounts is read once a second, and usage is written twice a second. */
const CONTROL_CONNECTIONS = 3;

/** Locks no row, but fails in a session that accepts no writes, so that its connection is replaced. */
const CHECK = 'select from migrations limit 0 for update';

export async function openPostgresIntelligence(options: PostgresOptions) {
  const { url, readUrls, connections, isForImport = false } = options;
  const primary = await openPrimary(url, connections);
  const replicas = readUrls.map((one) => openDatabase(one, { connections, role: 'any', waitMs: REPLICA_WAIT_MS }));
  const read = createReads(primary, replicas);
  const migrations = replicas.length > 0 ? readMigrations('postgres') : [];
  const importing = isForImport ? openImportWriter({ url, connections: Math.min(IMPORT_BATCHES, connections) }) : null;
  return {
    ...createUrlStore(primary, read),
    ...importing?.store,
    ...createReputationStore(primary, read),
    ...createChangeStore(primary, createReputationStore(primary, primary.query)),

    async ready() {
      await primary.query(CHECK);
    },

    freeBytes: () => null,

    pools: () => [
      loadOf('data', connections, primary),
      ...replicas.map((replica, i) => loadOf(replicaName(i), connections, replica)),
    ],

    replicas: () =>
      replicas.map((replica, i) => ({ pool: replicaName(i), check: () => requireMigrated(replica, migrations) })),

    async close() {
      await Promise.all([importing, primary, ...replicas].map((one) => one?.close()));
    },
  };
}

/** The main thread reads and groups rows while another one writes. Each batch has a connection. */
function openImportWriter(data: WriterData) {
  setFlagsFromString(`--max-semi-space-size=${WRITER_NEW_SPACE_MB}`); // of threads that start from now on
  const writer = createWorkerThread<Writes>(WRITER, data);
  const store: Pick<UrlStore, 'apply' | 'importBatches'> = {
    apply: (batch, listing) => writer.call('apply', packBatch(batch), listing),
    importBatches: { size: IMPORT_BATCH_SIZE, inFlight: data.connections },
  };
  return { store, close: writer.close };
}

export async function openPostgresControl({ url }: Pick<PostgresOptions, 'url'>) {
  const db = await openPrimary(url, CONTROL_CONNECTIONS);
  const { closeLists, ...lists } = createListStore(db);
  return {
    ...createAccountStore(db),
    ...createSessionStore(db),
    ...createUsageStore(db),
    ...createDailyTaskStore(db),
    ...createFeedStore(db),
    ...createImportStore(db),
    ...createAuditStore(db),
    ...createSoftLimitStore(db),
    ...createNodeStore(db),
    ...lists,
    pools: () => [loadOf('control', CONTROL_CONNECTIONS, db)],
    async close() {
      await closeLists();
      await db.close();
    },
  };
}

/** In the order of their URLs. */
const replicaName = (index: number) => `replica ${index + 1}`;

function loadOf(pool: string, connections: number, db: Database): PoolLoad {
  return { pool, connections, ...db.countConnections() };
}

/** The server that accepts writes, migrated to the schema of this program. */
async function openPrimary(url: string, connections: number): Promise<Database> {
  const db = openDatabase(url, { connections, role: 'read-write' });
  try {
    await migrate(db);
    await refuseHalfMoved(db);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}
