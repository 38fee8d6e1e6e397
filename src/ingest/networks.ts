import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type AsnResponse, Reader, type Response } from 'mmdb-lib';
import { AppError } from '../core/errors.ts';
import { formatIp, isIpv4 } from '../core/ip/address.ts';
import type { AddressNetwork, UrlStore } from '../urls/store.ts';
import { keyWords, type NetworkTable, readNetworkTable, tableAsn } from './network-table.ts';

/** Which network (autonomous system) an address belongs to. */
export type Networks = {
  asnOf(ip: Uint8Array): number | null;
  /** Reads the table again when its files have changed since. */
  refresh(): void;
  close(): void;
};

export type NetworksOptions = {
  /** Calls `work` again and again; gives what ends that. Without it the table stays as it is. */
  every?: (ms: number, work: () => void) => () => void;
  /** Told of a table that could not be read again; the one before stays in use. */
  onFailure?: (error: unknown) => void;
};

/** The free data set that npm installs: two files, by family. */
const NPM_PACKAGE = '@ip-location-db/asn';
const NPM_FILES = ['asn-ipv4-num.csv', 'asn-ipv6-num.csv'] as const;

const REFRESH_MS = 30_000;

type AsnOf = (ip: Uint8Array) => number | null;
type Table = { files: readonly string[]; load(): AsnOf };

/** `where` is an MMDB file, the folder of the npm data set, `npm` for the one that is installed, or null for none. */
export function openNetworks(where: string | null, options: NetworksOptions = {}): Networks {
  if (where === null) return { asnOf: () => null, refresh: () => {}, close: () => {} };
  const table = tableAt(where === 'npm' ? installedFolder() : where);
  let version = versionOf(table.files);
  let asnOf = table.load();

  function refresh(): void {
    try {
      const current = versionOf(table.files);
      if (current === version) return;
      version = current; // a faulty file is not read again before it has changed again
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
  if (stats === undefined) throw new AppError('not_found', `The table of networks ${path} is not there: see --asn-db`);
  if (!stats.isDirectory()) return { files: [path], load: () => loadMmdb(path) };
  const files = NPM_FILES.map((name) => join(path, name));
  return { files, load: () => loadCsv(files[0] ?? '', files[1] ?? '') };
}

/** Beside this program, or in the folder in which it was started. */
function installedFolder(): string {
  for (const base of [import.meta.url, join(process.cwd(), 'package.json')]) {
    try {
      return dirname(createRequire(base).resolve(`${NPM_PACKAGE}/package.json`));
    } catch {
      // not here
    }
  }
  throw new AppError(
    'not_found',
    `${NPM_PACKAGE} is not installed: npm install ${NPM_PACKAGE}, or give --asn-db a file`,
  );
}

/** Renaming a new file into place changes its number, writing into it its time. */
function versionOf(files: readonly string[]): string {
  return files
    .map((file) => {
      const { ino, mtimeMs, size } = statSync(file);
      return `${ino} ${mtimeMs} ${size}`;
    })
    .join();
}

/** As MaxMind, DB-IP and ip-location-db name it; `asn: "AS64500"` as IPinfo does. */
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
    throw new AppError('unavailable', `${path} is damaged at ${address}: get it anew`, { cause });
  }
}

function readMmdb(path: string): Reader<Response> {
  try {
    // Each record is decoded once, which halves the time of a look-up; there are as many as networks, some 80,000.
    return new Reader(readFileSync(path), { cache: new Map() });
  } catch (cause) {
    throw new AppError('bad_request', `${path} is no MMDB file that can be read: see --asn-db`, { cause });
  }
}

function loadCsv(ipv4File: string, ipv6File: string): AsnOf {
  const [ipv4, ipv6]: NetworkTable[] = [readNetworkTable(ipv4File, 1), readNetworkTable(ipv6File, 4)];
  return (ip) => tableAsn((isIpv4(ip) ? ipv4 : ipv6) as NetworkTable, keyWords(ip));
}

export type RefillReport = {
  /** Looked up because they were stored without a network; one that was seen over months counts more than once. */
  addresses: number;
  /** Those of them that the table does not have. */
  unknown: number;
  /** What was changed: one address has a resolution for every URL and day. */
  resolutions: number;
};

/** Page by page, so that imports and memory do not notice. Stops early, without an error, when the signal says so. */
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
