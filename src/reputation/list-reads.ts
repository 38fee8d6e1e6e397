import { setImmediate } from 'node:timers/promises';
import type { Awaitable } from '../core/awaitable.ts';
import { toByteText } from '../core/byte-text.ts';
import type { AddressDataset } from '../core/evidence.ts';
import { bucketOf } from '../urls/store.ts';
import { type NameListColumns, toNameLists } from './domain-rows.ts';
import { datasetCodes, type EpisodeRow, toListing } from './listing-rows.ts';
import { FIRST_LISTING, type ListingKey, type NameListing, type ReputationStore, type StoredListing } from './store.ts';

// What lists for devices are made of, as both engines read it.

/** After all episodes: longer than an address. */
const LAST_LISTING: ListingKey = [new Uint8Array(17).fill(0xff), 0, 0, 0, 0, 0, 0];

type ListReads = {
  /** The key of the last of the next episodes of one read; undefined if fewer are left. */
  endOfRead(after: ListingKey): Awaitable<ListingKey | undefined>;
  /** Episodes after `after` up to `last`. */
  episodes(
    after: ListingKey,
    last: ListingKey,
    datasets: readonly number[],
    seenSinceTs: number,
  ): Awaitable<EpisodeRow[]>;
  lastIds(): Awaitable<{ urls: number; hosts: number; domains: number }>;
  /** Addresses that are hosts of URLs of these ids that are online, and were seen since then. */
  onlineAddresses(afterUrl: number, lastUrl: number, sinceTs: number): Awaitable<[ip: Uint8Array][]>;
  /** Addresses among these hosts that have an event since then. */
  addressesWithEvents(afterHost: number, lastHost: number, sinceTs: number): Awaitable<[ip: Uint8Array][]>;
  derived(ips: readonly Uint8Array[], seenSinceTs: number): Awaitable<StoredListing[]>;
  domains(afterId: number, lastId: number, sinceTs: number): Awaitable<[name: string][]>;
};

/** Addresses whose URLs are read together. */
const ADDRESSES_PER_READ = 500;

/** Between two reads no transaction is open, so that the write-ahead log can be folded back. */
export function createListReads(
  reads: ListReads,
  idsPerRead: number,
): Pick<ReputationStore, 'listingsForList' | 'domainsForList'> {
  async function* episodes(datasets: readonly AddressDataset[], seenSinceTs: number) {
    const codes = datasetCodes(datasets);
    for (let after: ListingKey | undefined = FIRST_LISTING; after !== undefined; ) {
      const end: ListingKey | undefined = await reads.endOfRead(after);
      const rows = await reads.episodes(after, end ?? LAST_LISTING, codes, seenSinceTs);
      if (rows.length > 0) yield rows.map((row) => toListing(row, ''));
      after = end;
      await setImmediate();
    }
  }

  /**
   * Addresses of URLs that may have been seen online since then: those that are online and were seen, and those that have
   * gone offline since, which is an event.
   */
  async function recentAddresses(sinceTs: number): Promise<Uint8Array[]> {
    const found = new Map<string, Uint8Array>();
    const last = await reads.lastIds();
    const add = async (lastId: number, read: ListReads['onlineAddresses']) => {
      for (let after = 0; after < lastId; after += idsPerRead) {
        for (const [ip] of await read(after, after + idsPerRead, sinceTs)) {
          found.set(toByteText(ip), ip);
        }
        await setImmediate();
      }
    };
    await add(last.urls, reads.onlineAddresses);
    await add(last.hosts, reads.addressesWithEvents);
    return [...found.values()];
  }

  return {
    async *listingsForList(datasets, seenSinceTs) {
      yield* episodes(datasets, seenSinceTs);
      if (!datasets.includes('XBL')) return;
      const ips = await recentAddresses(seenSinceTs);
      for (let from = 0; from < ips.length; from += ADDRESSES_PER_READ) {
        const found = await reads.derived(ips.slice(from, from + ADDRESSES_PER_READ), seenSinceTs);
        if (found.length > 0) yield found;
        await setImmediate();
      }
    },

    async *domainsForList(seenSinceTs) {
      const { domains: lastId } = await reads.lastIds();
      for (let after = 0; after < lastId; after += idsPerRead) {
        const rows = await reads.domains(after, after + idsPerRead, seenSinceTs);
        if (rows.length > 0) yield rows.map(([name]) => name);
        await setImmediate();
      }
    },
  };
}

export type NamedListRow = [name: string, ...NameListColumns];

export function listsByName(rows: readonly NamedListRow[]): Map<string, NameListing[]> {
  const byName = Map.groupBy(rows, ([name]) => name);
  return new Map(Array.from(byName, ([name, ofName]) => [name, toNameLists(ofName.map(([, ...row]) => row))]));
}

/** The tables whose rows make a domain seen at a time, with the column of the time. */
export const SEEN_TABLES = [
  ['url_sightings', 'online_ts'],
  ['domain_evidence', 'last_ts'],
  ['name_addresses', 'ts'],
  ['name_servers', 'ts'],
  ['senders', 'ts'],
] as const;

/** The buckets of resolutions that have times since then, the newest first. */
export function bucketsBetween(sinceTs: number, untilTs: number): number[] {
  const [first, last] = [bucketOf(sinceTs), bucketOf(untilTs)];
  return Array.from({ length: last - first + 1 }, (_, i) => last - i);
}

/** Newest rows of one address that are read to count its domains, of facts and of each bucket of resolutions. */
export const MAX_ADDRESS_ROWS = 1_000;
