import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type AsnResponse, Reader, type Response } from 'mmdb-lib';
import { AppError } from '../core/errors.ts';
import { formatIp, isIpv4 } from '../core/ip/address.ts';
import type { AddressNetwork, UrlStore } from '../urls/store.ts';
import { keyWords, type NetworkTable, readNetworkTable, tableAsn } from './network-table.ts';

/** Maps addresses to AS numbers. */
export type Networks = {
  asnOf(ip: Uint8Array): number | null;
  /** Reloads the table if its files have changed. */
  refresh(): void;
  close(): void;
};

type NetworksOptions = {
  /** Calls `work` periodically and returns a function that stops it. If absent, the table is never reloaded. */
  every?: (ms: number, work: () => void) => () => void;
  /** Called if the table cannot be reloaded; the previous table stays in use. */
  onFailure?: (error: unknown) => void;
};

/** A free data set on npm: one file for IPv4, one for IPv6. */
const NPM_PACKAGE = '@ip-location-db/asn';
const NPM_FILES = ['asn-ipv4-num.csv', 'asn-ipv6-num.csv'] as const;

const REFRESH_MS = 30_000;

type AsnOf = (ip: Uint8Array) => number | null;
type Table = { files: readonly string[]; load(): AsnOf };

/** `where` is an MMDB file, the folder of the npm data set, `npm` for the installed one, or null for no table. */
export function openNetworks(where: string | null, options: NetworksOptions = {}): Networks {
  if (where === null) return { asnOf: () => null, refresh: () => {}, close: () => {} };
  const table = tableAt(where === 'npm' ? installedFolder() : where);
  let version = versionOf(table.files);
  let asnOf = table.load();

  function refresh(): void {
    try {
      const current = versionOf(table.files);
      if (current === version) return;
      version = current; // do not reload a damaged file until it changes again
      asnOf = table.load();
    } catch (error) {
      options.onFailure?.(error);
    }
  }
  const stop = options.every?.(REFRESH_MS, refresh);
  return { asnOf: (ip) => asnOf(ip), refresh, close: () => stop?.() };
}

function tableAt(path: string): Table {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new AppError('not_found', `The ASN table ${path} does not exist: check --asn-db`);
  if (!stats.isDirectory()) return { files: [path], load: () => loadMmdb(path) };
  const files = NPM_FILES.map((name) => join(path, name));
  return { files, load: () => loadCsv(files[0] ?? '', files[1] ?? '') };
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
    `${NPM_PACKAGE} is not installed: run npm install ${NPM_PACKAGE}, or set --asn-db to a file`,
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

/** MaxMind, DB-IP and ip-location-db use `autonomous_system_number`; IPinfo uses `asn: "AS64500"`. */
type MmdbRecord = Partial<AsnResponse> & { asn?: string };

function loadMmdb(path: string): AsnOf {
  const reader = readMmdb(path);
  return (ip) => {
    if (!isIpv4(ip) && reader.metadata.ipVersion === 4) return null;
    const record = readRecord(reader, formatIp(ip), path);
    const asn = record?.autonomous_system_number ?? Number(/^AS(\d+)$/.exec(record?.asn ?? '')?.[1]);
    return asn > 0 ? asn : null;
  };
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

function loadCsv(ipv4File: string, ipv6File: string): AsnOf {
  const [ipv4, ipv6]: NetworkTable[] = [readNetworkTable(ipv4File, 1), readNetworkTable(ipv6File, 4)];
  return (ip) => tableAsn((isIpv4(ip) ? ipv4 : ipv6) as NetworkTable, keyWords(ip));
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
