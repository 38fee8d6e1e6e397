import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type AsnResponse, Reader, type Response } from 'mmdb-lib';
import { AppError } from '../core/errors.ts';
import type { Every } from '../core/every.ts';
import { formatIp, isIpv4 } from '../core/ip/address.ts';
import { workerEntry } from '../threads/worker-thread.ts';
import type { AddressNetwork, UrlStore } from '../urls/store.ts';
import { nameIn } from './network-names.ts';
import { keyWords, type NetworkTables, readTables, tableAsn } from './network-table.ts';

/** Maps addresses to AS numbers and their names. */
export type Networks = {
  asnOf(ip: Uint8Array): number | null;
  /** Null if the table does not have the address. `name` is null if the table has no names. */
  networkOf(ip: Uint8Array): { asn: number; name: string | null } | null;
  /** The name of an AS number. An MMDB file is indexed by address: it knows the names of networks that were asked for. */
  nameOf(asn: number): string | null;
  close(): void;
};

type NetworksOptions = {
  /** Reloads a table whose files have changed. If absent, it is never reloaded. */
  every?: Every;
  /** Called if the table cannot be reloaded; the previous table stays in use. */
  onFailure?: (error: unknown) => void;
};

/** A free data set on npm: one file for IPv4, one for IPv6. */
const NPM_PACKAGE = '@ip-location-db/asn';
const NPM_FILES = ['asn-ipv4-num.csv', 'asn-ipv6-num.csv'] as const;

const REFRESH_MS = 30_000;

type Loaded = Pick<Networks, 'asnOf' | 'networkOf' | 'nameOf'>;
/** `reload` does not keep the thread from answering. */
type Table = { files: readonly string[]; load(): Loaded; reload(stop: AbortSignal): Promise<Loaded> };

const NO_TABLE: Loaded = { asnOf: () => null, networkOf: () => null, nameOf: () => null };

/** `where` is an MMDB file, the folder of the npm data set, `npm` for the installed one, or null for no table. */
export function openNetworks(where: string | null, options: NetworksOptions = {}): Networks {
  if (where === null) return { ...NO_TABLE, close: () => {} };
  const table = tableAt(where === 'npm' ? installedFolder() : where);
  let version = versionOf(table.files);
  let loaded = table.load();

  const stop = new AbortController();
  let isReloading = false;
  async function refresh(): Promise<void> {
    if (isReloading) return;
    isReloading = true;
    try {
      const current = versionOf(table.files);
      if (current === version) return;
      version = current; // do not reload a damaged file until it changes again
      loaded = await table.reload(stop.signal);
    } catch (error) {
      if (!stop.signal.aborted) options.onFailure?.(error);
    } finally {
      isReloading = false;
    }
  }
  const endTimer = options.every?.(REFRESH_MS, () => void refresh());
  return {
    asnOf: (ip) => loaded.asnOf(ip),
    networkOf: (ip) => loaded.networkOf(ip),
    nameOf: (asn) => loaded.nameOf(asn),
    close() {
      endTimer?.();
      stop.abort();
    },
  };
}

function tableAt(path: string): Table {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new AppError('not_found', `The ASN table ${path} does not exist: check --asn-db`);
  // Its records are decoded when they are asked for.
  if (!stats.isDirectory()) return { files: [path], load: () => loadMmdb(path), reload: async () => loadMmdb(path) };
  const files = NPM_FILES.map((name) => join(path, name)) as [ipv4: string, ipv6: string];
  const missing = NPM_FILES.find((name) => !existsSync(join(path, name)));
  if (missing !== undefined) {
    const advice = `set --asn-db to an MMDB file, or to the folder of ${NPM_PACKAGE}`;
    throw new AppError('not_found', `The folder ${path} has no ${missing}: ${advice}`);
  }
  return {
    files,
    load: () => lookupsIn(readTables(files)),
    reload: async (stop) => lookupsIn(await readTablesInThread(files, stop)),
  };
}

/** Searches next to this program, then in the working directory. */
function installedFolder(): string {
  for (const base of [import.meta.url, join(process.cwd(), 'package.json')]) {
    try {
      return dirname(createRequire(base).resolve(`${NPM_PACKAGE}/package.json`));
    } catch {
      // not installed at this place
    }
  }
  throw new AppError(
    'not_found',
    `${NPM_PACKAGE} is not installed: run npm install --no-save ${NPM_PACKAGE}, or set --asn-db to a file`,
  );
}

/** A rename changes the inode, a write changes the modification time. */
function versionOf(files: readonly string[]): string {
  return files
    .map((file) => {
      const { ino, mtimeMs, size } = statSync(file);
      return `${ino} ${mtimeMs} ${size}`;
    })
    .join();
}

/** MaxMind, DB-IP and ip-location-db use `autonomous_system_…`; IPinfo uses `asn: "AS64500"` and `as_name`. */
type MmdbRecord = Partial<AsnResponse> & { asn?: string; as_name?: string };

function loadMmdb(path: string): Loaded {
  const reader = readMmdb(path);
  const names = new Map<number, string>();

  function recordOf(ip: Uint8Array): MmdbRecord | null {
    if (!isIpv4(ip) && reader.metadata.ipVersion === 4) return null;
    return readRecord(reader, formatIp(ip), path);
  }

  return {
    asnOf: (ip) => recordAsn(recordOf(ip)),
    networkOf(ip) {
      const record = recordOf(ip);
      const asn = recordAsn(record);
      if (asn === null) return null;
      const name = record?.autonomous_system_organization || record?.as_name || null;
      if (name !== null) names.set(asn, name);
      return { asn, name };
    },
    nameOf: (asn) => names.get(asn) ?? null,
  };
}

function recordAsn(record: MmdbRecord | null): number | null {
  const asn = record?.autonomous_system_number ?? Number(/^AS(\d+)$/.exec(record?.asn ?? '')?.[1]);
  return asn > 0 ? asn : null;
}

function readRecord(reader: Reader<Response>, address: string, path: string): MmdbRecord | null {
  try {
    return reader.get(address) as MmdbRecord | null;
  } catch (cause) {
    throw new AppError('unavailable', `${path} is damaged at ${address}: download it again`, { cause });
  }
}

function readMmdb(path: string): Reader<Response> {
  try {
    // Decoding each record once halves the lookup time. There is one record per network, about 80,000.
    return new Reader(readFileSync(path), { cache: new Map() });
  } catch (cause) {
    throw new AppError('bad_request', `${path} is not a readable MMDB file: check --asn-db`, { cause });
  }
}

function lookupsIn({ ipv4, ipv6, names }: NetworkTables): Loaded {
  const nameOf = (asn: number) => nameIn(names, asn);
  const asnOf = (ip: Uint8Array) => tableAsn(isIpv4(ip) ? ipv4 : ipv6, keyWords(ip));
  return {
    asnOf,
    nameOf,
    networkOf(ip) {
      const asn = asnOf(ip);
      return asn === null ? null : { asn, name: nameOf(asn) };
    },
  };
}

/** Half a million ranges take half a second, in which a thread could answer thousands of requests. */
async function readTablesInThread(files: [ipv4: string, ipv6: string], stop: AbortSignal): Promise<NetworkTables> {
  const reader = new Worker(workerEntry('network-reader', import.meta.url), { workerData: files });
  reader.on('error', () => {}); // after `stop` nothing else listens
  try {
    const [tables] = await once(reader, 'message', { signal: stop });
    return tables as NetworkTables;
  } finally {
    void reader.terminate();
  }
}

type RefillReport = {
  /** Stored addresses without an AS number. An address that was seen over months may count more than once. */
  addresses: number;
  /** Addresses that are not in the table. */
  unknown: number;
  /** Resolutions changed: an address has one for each URL and day. */
  resolutions: number;
};

/** Works page by page, so imports are not blocked and memory is bounded. Returns early if the signal aborts. */
export async function refillNetworks(store: UrlStore, networks: Networks, signal: AbortSignal): Promise<RefillReport> {
  const report: RefillReport = { addresses: 0, unknown: 0, resolutions: 0 };
  try {
    for await (const page of store.networklessAddresses(signal)) {
      const found = page.flatMap((ip): AddressNetwork[] => {
        const asn = networks.asnOf(ip);
        return asn === null ? [] : [{ ip, asn }];
      });
      report.addresses += page.length;
      report.unknown += page.length - found.length;
      if (found.length > 0) report.resolutions += await store.setNetworks(found);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return report;
}
