import { AppError } from '../../core/errors.ts';
import type { Control } from '../control.ts';
import type { Store } from '../store.ts';
import { createApply } from './apply.ts';
import { createApplyFiles } from './apply-files.ts';
import { createControlReads } from './control-read.ts';
import { createControlWrites } from './control-write.ts';
import { type Database, openDatabase } from './database.ts';
import { createExportObservations } from './export-observations.ts';
import { createExportUrls } from './export-urls.ts';
import { createFinishListing } from './finish-listing.ts';
import { migrate } from './migrate.ts';
import { refuseHalfMoved } from './move-mark.ts';
import { createListingEffect } from './read-listings.ts';
import { createNetworklessAddresses } from './read-networkless.ts';
import { createReadStreams } from './read-streams.ts';
import { createReadUrl } from './read-url.ts';
import { createReads } from './replicas.ts';
import { createSearch } from './search.ts';
import { createSetNetworks } from './set-networks.ts';
import { createSpreadFamilies } from './spread-families.ts';

export type PostgresOptions = {
  /** With several hosts, the one that accepts writes is asked. */
  url: string;
  /** Replicas, for lookups and searches. */
  readUrls: readonly string[];
  /** Connections that may be open at once, to each server. */
  connections: number;
};

/** A replica that is slow is not waited for as long as the primary, after which there is none. */
const REPLICA_WAIT_MS = 2_000;

/** Accounts are looked at once a second, and usage is written twice. */
const CONTROL_CONNECTIONS = 3;

const CHECK = `select current_setting('transaction_read_only'), count(*) from migrations`;

/** The intelligence store on PostgreSQL. */
export async function openPostgresStore({ url, readUrls, connections }: PostgresOptions): Promise<Store> {
  const primary = await openPrimary(url, connections);
  const replicas = readUrls.map((one) => openDatabase(one, { connections, role: 'any', waitMs: REPLICA_WAIT_MS }));
  const close = async () => void (await Promise.all([primary, ...replicas].map((database) => database.close())));
  const reads = createReads(primary, replicas);
  const spreadFamilies = createSpreadFamilies(primary);
  const exportUrls = createExportUrls(primary.query);
  return {
    apply: createApply(primary, spreadFamilies),
    applyFiles: createApplyFiles(primary, spreadFamilies),
    listingEffect: createListingEffect(primary.query),
    finishListing: createFinishListing(primary),
    exportObservations: createExportObservations(primary.query, exportUrls),
    exportUrls,
    networklessAddresses: createNetworklessAddresses(primary.query),
    setNetworks: createSetNetworks(primary),
    ...createReadUrl(reads),
    ...createReadStreams(reads),
    search: createSearch(reads),

    async ready() {
      const [row] = await primary.query<[readOnly: string, migrations: number]>(CHECK);
      if (row?.[0] !== 'off') throw new AppError('unavailable', 'PostgreSQL accepts no writes');
    },
    close,
  };
}

/** The control store on PostgreSQL, for any number of nodes. */
export async function openPostgresControl({ url }: Pick<PostgresOptions, 'url'>): Promise<Control> {
  const db = await openPrimary(url, CONTROL_CONNECTIONS);
  return { ...createControlReads(db), ...createControlWrites(db), close: db.close };
}

/** The server that accepts writes, brought to this program's schema. */
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
