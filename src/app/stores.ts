import type { AccountStore, SessionStore } from '../accounts/store.ts';
import type { AuditStore, SoftLimitStore } from '../audit/store.ts';
import type { ChangeStore } from '../changes/store.ts';
import { SETTINGS } from '../config/settings.ts';
import type { DailyTaskStore } from '../database/daily-tasks.ts';
import { dataFiles, makeFolder } from '../database/data-folder.ts';
import type { ListStore } from '../exports/store.ts';
import type { Replica } from '../health/replica-watch.ts';
import type { NodeStore } from '../health/store.ts';
import type { FeedStore, ImportStore } from '../ingest/store.ts';
import type { UsageStore } from '../limits/store.ts';
import type { FileSizes, PoolLoad } from '../metrics/database-gauges.ts';
import type { ReputationStore } from '../reputation/store.ts';
import type { UrlStore } from '../urls/store.ts';
import { type IntelligenceOptions, openSqliteControl, openSqliteIntelligence, type WriteFor } from './sqlite-stores.ts';

/** What both databases have besides the stores. */
type Opened = {
  /** Only on PostgreSQL. */
  pools?(): PoolLoad[];
  /** Only of the intelligence database, on PostgreSQL. */
  replicas?(): Replica[];
  /** Only on the embedded store. */
  sizes?(): FileSizes;
  /** Only on the embedded store: runs a write of another thread of this process. */
  write?(name: string, args: unknown[]): Promise<unknown>;
  close(): Promise<void>;
};

/** The stores of all features in the intelligence database. */
export type Intelligence = UrlStore &
  ReputationStore &
  ChangeStore &
  Opened & {
    /** Throws when the database cannot answer now. */
    ready(): Promise<void>;
    /** Only on the embedded store: for an import that opened it with `isForImport`. */
    createIndexes?(): Promise<void>;
    /** The free space of the disk of a data folder; null for PostgreSQL, and if the file system does not report it. */
    freeBytes(): number | null;
  };

/** The stores of all features in the control database. */
export type Control = AccountStore &
  SessionStore &
  UsageStore &
  DailyTaskStore &
  FeedStore &
  ImportStore &
  AuditStore &
  SoftLimitStore &
  NodeStore &
  ListStore &
  Opened;

/** Where the data is: in a folder, or in PostgreSQL if a URL is given. The names are those of the settings. */
export type DataPlace = {
  dataDir: string;
  databaseUrl?: string | null;
  databaseReadUrls?: readonly string[];
  databaseConnections?: number;
};

/** Loaded on demand: commands on a folder start without the driver. */
const postgres = () => import('./postgres-stores.ts');

/** `options`: on a server, whose threads all have the database open, and for an import. */
export async function openIntelligence(place: DataPlace, options?: IntelligenceOptions): Promise<Intelligence> {
  const { dataDir, databaseUrl: url, databaseReadUrls: readUrls = [] } = place;
  const { databaseConnections: connections = SETTINGS.databaseConnections.fallback } = place;
  if (url) {
    const { isForImport } = options ?? {};
    return (await postgres()).openPostgresIntelligence({ url, readUrls, connections, isForImport });
  }
  makeFolder(dataDir);
  return openSqliteIntelligence(dataFiles(dataDir).intelligence, options);
}

export async function openControl({ dataDir, databaseUrl: url }: DataPlace, writeFor?: WriteFor): Promise<Control> {
  if (url) return (await postgres()).openPostgresControl({ url });
  makeFolder(dataDir);
  return openSqliteControl(dataFiles(dataDir).control, writeFor);
}

/** For messages: the folder, or hosts and database without user and password. */
export function describePlace({ dataDir, databaseUrl }: DataPlace): string {
  if (!databaseUrl) return dataDir;
  const [, hosts, database] = /^\w+:\/\/(?:.*@)?([^/]+)\/([^?]+)/.exec(databaseUrl) ?? [];
  return `PostgreSQL ${hosts}/${database}`;
}
