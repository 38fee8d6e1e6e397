import { setImmediate } from 'node:timers/promises';
import type { Awaitable } from '../core/awaitable.ts';
import { toHex } from '../core/byte-text.ts';
import { rowPages } from '../database/pages.ts';
import {
  compareAddresses,
  compareEvidence,
  compareFiles,
  compareHostnames,
  compareSenders,
  compareUrls,
  type EvidenceColumns,
  type SourceColumns,
  toEvidence,
  toSource,
} from './domain-rows.ts';
import { MAX_PIECES } from './score.ts';
import {
  MAX_DOMAIN_URLS,
  type MalwareFile,
  type MalwareUrl,
  type ReputationStore,
  type SeenAddress,
  type SeenHostname,
  type Sender,
} from './store.ts';

// Each row begins with the key by which its pages are read.

type UrlKey = [onlineTs: number, urlId: number];
type EvidenceKey = [sourceId: number, kind: number, hostId: number];
type AddressKey = [hostId: number, ip: Uint8Array, day: number, origin: number];
type SenderKey = [ip: Uint8Array, helo: string];

export type SightingRow = [...UrlKey, hostname: string];
export type EvidencePageRow = [...EvidenceKey, ...SourceColumns, ...EvidenceColumns];
export type AddressPageRow = [...AddressKey, ts: number];
export type SenderRow = [...SenderKey, ts: number];

/** The reads of an engine. Pages have `PAGE_ROWS`, in order of their key. */
type DomainReads = {
  /** URLs that were seen online, newest first: the next ones before `before`. */
  sightings(domainId: number, before: UrlKey): Awaitable<SightingRow[]>;
  evidence(domainId: number, after: EvidenceKey): Awaitable<EvidencePageRow[]>;
  addresses(domainId: number, after: AddressKey): Awaitable<AddressPageRow[]>;
  senders(domainId: number, after: SenderKey): Awaitable<SenderRow[]>;
  /**
   * The text of each URL, and the family of its newest payload that has one. At equal times the greater key counts as
   * newer, as for the last payload of a URL.
   */
  urls(urlIds: readonly number[]): Awaitable<[urlId: number, url: string, family: string | null][]>;
  /** The newest `MAX_URL_PAYLOADS` payloads of each URL whose file has a SHA-256, with the family of the file. */
  payloads(urlIds: readonly number[]): Awaitable<[ts: number, fileKey: Uint8Array, family: string | null][]>;
};

/** Newest payloads of one URL that are read. A URL with more serves a new file at every request. */
export const MAX_URL_PAYLOADS = 1_000;

/** URLs whose payloads are read together: most have one or two. */
const URLS_PER_READ = 50;

/** Rows of evidence that are read for host names: as many as URLs. */
const MAX_EVIDENCE_ROWS = MAX_DOMAIN_URLS;

/** Rows of addresses or senders that are read: 200 pages. A domain with more is a shared site. */
const MAX_ADDRESS_ROWS = 100_000;

const NO_ADDRESS = new Uint8Array(0);

/** The lists of a domain. */
export function createDomainReads(
  reads: DomainReads,
): Pick<ReputationStore, 'domainHostnames' | 'domainUrls' | 'domainFiles' | 'domainAddresses' | 'domainSenders'> {
  const sightings = pagesOf(reads.sightings, [Number.MAX_SAFE_INTEGER, 0], MAX_DOMAIN_URLS);
  const evidence = pagesOf(reads.evidence, [-1, 0, 0], MAX_EVIDENCE_ROWS);
  const addresses = pagesOf(reads.addresses, [-1, NO_ADDRESS, 0, 0], MAX_ADDRESS_ROWS);
  const senders = pagesOf(reads.senders, [NO_ADDRESS, ''], MAX_ADDRESS_ROWS);
  return {
    domainHostnames: (id, limit) => hostnames(sightings(id), evidence(id), limit),
    domainUrls: (id, limit) => urls(sightings(id), reads.urls, limit),
    domainFiles: (id, limit) => files(sightings(id), reads.payloads, limit),
    domainAddresses: (id, limit) => seenAddresses(addresses(id), limit),
    domainSenders: (id, limit) => newestSenders(senders(id), limit),
  };
}

type Pages<Row> = AsyncIterable<Row[]>;

/** A row begins with its key. */
function pagesOf<Row extends unknown[], Key extends unknown[]>(
  read: (domainId: number, key: Key) => Awaitable<Row[]>,
  first: NoInfer<Key>,
  maxRows: number,
): (domainId: number) => Pages<Row> {
  const keyOf = (row: Row) => row.slice(0, first.length) as Key;
  return (domainId) => rowPages<Row, Key>((key) => read(domainId, key), first, keyOf, maxRows);
}

async function hostnames(
  sightings: Pages<SightingRow>,
  evidencePages: Pages<EvidencePageRow>,
  limit: number,
): Promise<SeenHostname[]> {
  const hosts = new Map<string, SeenHostname>();
  const hostOf = (hostname: string) => {
    const host = hosts.get(hostname) ?? { hostname, lastTs: 0, urlTs: [], evidence: [] };
    hosts.set(hostname, host);
    return host;
  };
  for await (const rows of sightings) {
    for (const [onlineTs, , hostname] of rows) {
      const host = hostOf(hostname);
      host.lastTs = Math.max(host.lastTs, onlineTs);
      if (host.urlTs.length < MAX_PIECES) host.urlTs.push(onlineTs);
    }
  }
  for await (const rows of evidencePages) {
    for (const [, kind, , name, trust, life, interval, ...columns] of rows) {
      const evidence = toEvidence(toSource([name, trust, life, interval]), kind, columns);
      const host = hostOf(evidence.hostname);
      host.lastTs = Math.max(host.lastTs, evidence.lastTs);
      host.evidence.push(evidence);
    }
  }
  const newest = [...hosts.values()].sort(compareHostnames).slice(0, limit);
  for (const { evidence } of newest) evidence.sort(compareEvidence);
  return newest;
}

async function urls(sightings: Pages<SightingRow>, read: DomainReads['urls'], limit: number): Promise<MalwareUrl[]> {
  const found: MalwareUrl[] = [];
  for await (const rows of sightings) {
    const times = new Map(rows.map(([onlineTs, urlId]) => [urlId, onlineTs]));
    for (const [urlId, url, family] of await read([...times.keys()])) {
      found.push({ url, family, lastTs: times.get(urlId) as number });
    }
    found.sort(compareUrls);
    // Of equal times all are read, because the texts decide which ones are returned.
    const [oldestTs = 0] = rows.at(-1) ?? [];
    if (found.length > limit && oldestTs < (found[limit - 1]?.lastTs ?? 0)) break;
  }
  return found.slice(0, limit);
}

async function files(sightings: Pages<SightingRow>, read: DomainReads['payloads'], limit: number) {
  let newest = new Map<string, MalwareFile>();
  const sorted = () => [...newest.values()].sort(compareFiles).slice(0, limit);
  for await (const rows of sightings) {
    for (let i = 0; i < rows.length; i += URLS_PER_READ) {
      const urlIds = rows.slice(i, i + URLS_PER_READ).map(([, urlId]) => urlId);
      for (const [lastTs, fileKey, family] of await read(urlIds)) {
        const sha256 = toHex(fileKey);
        if (lastTs > (newest.get(sha256)?.lastTs ?? -1)) newest.set(sha256, { sha256, family, lastTs });
      }
      // A file that is not among the newest now can only be later by a newer payload, so it may be forgotten.
      if (newest.size > 2 * MAX_DOMAIN_URLS) newest = new Map(sorted().map((file) => [file.sha256, file]));
      await setImmediate();
    }
  }
  return sorted();
}

async function seenAddresses(pages: Pages<AddressPageRow>, limit: number): Promise<SeenAddress[]> {
  const addresses = new Map<string, { ip: Uint8Array; lastTs: number; days: Set<number> }>();
  for await (const rows of pages) {
    for (const [, ip, day, , ts] of rows) {
      const key = toHex(ip);
      const address = addresses.get(key) ?? { ip, lastTs: ts, days: new Set() };
      address.lastTs = Math.max(address.lastTs, ts);
      address.days.add(day);
      addresses.set(key, address);
    }
  }
  const newest = await firstOf(addresses.values(), compareAddresses, limit);
  return newest.map(({ ip, lastTs, days }) => ({ ip, lastTs, days: days.size }));
}

async function newestSenders(pages: Pages<SenderRow>, limit: number): Promise<Sender[]> {
  const senders: Sender[] = [];
  for await (const rows of pages) for (const [ip, helo, lastTs] of rows) senders.push({ ip, helo, lastTs });
  return firstOf(senders, compareSenders, limit);
}

/** Items that are sorted before the event loop runs, besides those that are kept. */
const SORTED_AT_ONCE = 5_000;

/** The first items in this order. To sort a hundred thousand together would take 0.1 s. */
async function firstOf<Item>(
  items: Iterable<Item>,
  compare: (a: Item, b: Item) => number,
  limit: number,
): Promise<Item[]> {
  let first: Item[] = [];
  const cut = () => {
    first = first.sort(compare).slice(0, limit);
  };
  for (const item of items) {
    first.push(item);
    if (first.length < limit + SORTED_AT_ONCE) continue;
    cut();
    await setImmediate();
  }
  cut();
  return first;
}
