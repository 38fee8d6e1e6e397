import type { Control } from './control.ts';
import { dataFiles, makeFolder } from './data-folder.ts';
import { openSqliteControl, openSqliteStore } from './sqlite/open.ts';
import type { Store } from './store.ts';

/** Where the data is: in a folder, or in PostgreSQL where its URL is given. The names are those of the settings. */
export type DataPlace = {
  dataDir: string;
  databaseUrl?: string | null;
  databaseReadUrls?: readonly string[];
  databaseConnections?: number;
};

const CONNECTIONS = 10;

/** Loaded where it is wanted: commands on a folder start without its driver. */
const postgres = () => import('./postgres/open.ts');

export async function openStore(place: DataPlace): Promise<Store> {
  const { dataDir, databaseUrl: url, databaseReadUrls: readUrls = [], databaseConnections = CONNECTIONS } = place;
  if (url) return (await postgres()).openPostgresStore({ url, readUrls, connections: databaseConnections });
  makeFolder(dataDir);
  return openSqliteStore(dataFiles(dataDir).intelligence);
}

export async function openControl({ dataDir, databaseUrl: url }: DataPlace): Promise<Control> {
  if (url) return (await postgres()).openPostgresControl({ url });
  makeFolder(dataDir);
  return openSqliteControl(dataFiles(dataDir).control);
}

/** For people: the folder, or the hosts and the database without user and password. */
export function describePlace({ dataDir, databaseUrl }: DataPlace): string {
  if (!databaseUrl) return dataDir;
  const [, hosts, database] = /^\w+:\/\/(?:.*@)?([^/]+)\/([^?]+)/.exec(databaseUrl) ?? [];
  return `PostgreSQL ${hosts}/${database}`;
}
