import { type Awaitable, then } from '../core/awaitable.ts';
import type { AddressDataset } from '../core/evidence.ts';
import { containsNetwork, isIpv4Network, KEY_BITS, type KeyNetwork } from '../core/ip/key-network.ts';
import { isReserved } from '../core/ip/reserved.ts';
import { compareTexts } from '../core/text.ts';
import type { AddressListCopy, ListsInMemory } from './address-lists.ts';
import { lifeOf } from './episode-rules.ts';
import { compareNetworks } from './listing-rows.ts';
import type { ListingRemoval, ReputationStore, StoredListing } from './store.ts';

/**
 * Responses about addresses:
 *
 *     const lists = createAddressListCopy(store, { nowMs: Date.now });
 *     const report = createAddressReport({ store, lists, now, allowReserved: false });
 *     report.records({ network, datasets, mode: 'listed', type: 'live', sinceTs: null, untilTs: null, limit: 500 })
 *     report.liveListings(ip, ['BCL', 'DROP'], now())
 *
 * Both return the result itself on SQLite, and a promise otherwise.
 */
export type AddressReport = {
  /** In the order of the response; empty if nothing is found. */
  records(query: AddressQuery): Awaitable<AddressRecord[]>;
  /** The live listings of an address and of the networks around it, for scores. */
  liveListings(ip: Uint8Array, datasets: readonly AddressDataset[], nowTs: number): Awaitable<LiveListing[]>;
};

export type AddressQuery = {
  network: KeyNetwork;
  /** The part of the network that the client named, if it did not name all of it: an IPv6 address stands for its /64. */
  asked?: KeyNetwork;
  datasets: readonly AddressDataset[];
  /** `listed`: inside the network. `listings`: of networks that contain it. */
  mode: 'listed' | 'listings';
  type: 'live' | 'history';
  /** Bounds of the newest evidence, both inclusive; null without a bound. */
  sinceTs: number | null;
  untilTs: number | null;
  limit: number;
  /** Aborted when nobody waits for the records any more. */
  signal?: AbortSignal;
};

export type AddressRecord = {
  network: KeyNetwork;
  dataset: AddressDataset;
  listedTs: number;
  seenTs: number;
  validUntilTs: number;
  /** The malware family; null if it is unknown. */
  botname: string | null;
  source: string;
  /** What the evidence says besides, under the names of the API, with `dstport`. */
  details: Record<string, string | number | boolean>;
  isShared: boolean;
  removedTs: number | null;
};

export type LiveListing = {
  network: KeyNetwork;
  dataset: AddressDataset;
  seenTs: number;
  validUntilTs: number;
  source: string;
  /** 0 to 900. */
  trustPermille: number;
};

type ReportOptions = {
  store: Pick<ReputationStore, 'listings'>;
  lists: AddressListCopy;
  /** Unix seconds. */
  now(): number;
  /** Respond also for private, reserved, documentation and multicast ranges. */
  allowReserved: boolean;
  /** `listed` does not include the networks around a single address. */
  listedExact?: boolean;
};

export function createAddressReport(options: ReportOptions): AddressReport {
  const { store, lists, now, allowReserved, listedExact = false } = options;

  function ask<T>(
    query: Pick<AddressQuery, 'network' | 'datasets' | 'type' | 'sinceTs' | 'signal'>,
    { inside, covering }: { inside: boolean; covering: boolean },
    nowTs: number,
    report: (rows: readonly StoredListing[], current: ListsInMemory) => T,
  ): Awaitable<T> {
    const { network, datasets, type, sinceTs, signal } = query;
    return then(lists.current(), (current) => {
      const liveSinceTs = type === 'live' ? nowTs - current.longestLifeSeconds : 0;
      const seenSinceTs = Math.max(0, liveSinceTs, sinceTs ?? 0);
      const rows = store.listings({ network, inside, covering, datasets, seenSinceTs, signal });
      return then(rows, (found) => report(found, current));
    });
  }

  return {
    records(query) {
      const nowTs = now();
      const inside = query.mode === 'listed';
      const covering = !inside || (!listedExact && countsAsOneAddress(query.network));
      return ask(query, { inside, covering }, nowTs, (rows, current) =>
        addressRecords(rows, query, current, { nowTs, allowReserved }),
      );
    },

    liveListings(ip, datasets, nowTs) {
      const network = { ip, prefix: KEY_BITS };
      const query = { network, datasets, type: 'live', sinceTs: null } as const;
      return ask(query, { inside: true, covering: true }, nowTs, (rows, current) =>
        shownListings(rows, { ...query, untilTs: null }, current, { nowTs, allowReserved }).map(toLiveListing),
      );
    },
  };
}

/** A client of IPv6 has a /64. */
const IPV6_CLIENT_PREFIX = 64;

/** What counts as one address: an IPv4 /32, an IPv6 /64 or narrower. */
export function countsAsOneAddress(network: KeyNetwork): boolean {
  return network.prefix >= (isIpv4Network(network) ? KEY_BITS : IPV6_CLIENT_PREFIX);
}

type Window = Pick<AddressQuery, 'network' | 'asked' | 'type' | 'sinceTs' | 'untilTs'>;
type RecordOptions = { nowTs: number; allowReserved: boolean };

/** The records of a response, in their order. `rows` are in any order. */
function addressRecords(
  rows: readonly StoredListing[],
  query: Window & Pick<AddressQuery, 'limit'>,
  lists: ListsInMemory,
  options: RecordOptions,
): AddressRecord[] {
  return newestListings(shownListings(rows, query, lists, options), query.limit).map((listing) =>
    toRecord(listing, lists),
  );
}

/** In their order. Of many, the times alone are sorted first: to sort 100,000 listings of a network took 0.1 s. */
function newestListings(listings: StoredListing[], limit: number): StoredListing[] {
  if (listings.length <= limit) return listings.sort(compareListings);
  const times = Float64Array.from(listings, ({ seenTs }) => seenTs).sort();
  const oldestTs = times[times.length - limit] ?? 0;
  const newest = listings.filter(({ seenTs }) => seenTs >= oldestTs);
  return newest.sort(compareListings).slice(0, limit);
}

/** The listings that the query is about, without allowed networks. */
function shownListings(
  rows: readonly StoredListing[],
  { network, asked = network, type, sinceTs, untilTs }: Window,
  lists: ListsInMemory,
  { nowTs, allowReserved }: RecordOptions,
): StoredListing[] {
  const isAllowed = (one: KeyNetwork) => lists.isAllowed(one) || (!allowReserved && isReserved(one));
  if (rows.length === 0 || isAllowed(network)) return [];
  const isAskedAllowed = isAllowed(asked);
  return rows.filter((row) => {
    if (row.seenTs < (sinceTs ?? 0) || row.seenTs > (untilTs ?? Number.POSITIVE_INFINITY)) return false;
    if (type === 'live' && (nowTs >= validUntil(row) || removalOf(row, lists) !== null)) return false;
    if (isAskedAllowed && containsNetwork(row.network, asked)) return false;
    // The networks around the queried one contain it, and it is not allowed.
    return row.network.prefix <= network.prefix || !isAllowed(row.network);
  });
}

export function validUntil({ seenTs, source, dataset }: StoredListing): number {
  return seenTs + lifeOf(source, dataset);
}

/**
 * The removal of a listing; null if it is not removed. A removal applies to the listing that was live then, and to every
 * later one until its end. It does not apply to a listing that had expired before, nor to one that was seen after its end.
 */
export function removalOf(listing: StoredListing, lists: Pick<ListsInMemory, 'removalsOf'>): ListingRemoval | null {
  let newest: ListingRemoval | null = null;
  for (const removal of lists.removalsOf(listing)) {
    if (removal.removedTs >= validUntil(listing) || listing.seenTs > removal.untilTs) continue;
    if (newest === null || removal.removedTs > newest.removedTs) newest = removal;
  }
  return newest;
}

/** Newest first, then by address and dataset. The rest makes the order the same on every node. */
export function compareListings(a: StoredListing, b: StoredListing): number {
  return (
    b.seenTs - a.seenTs ||
    compareNetworks(a.network, b.network) ||
    compareTexts(a.dataset, b.dataset) ||
    compareTexts(a.source.name, b.source.name) ||
    compareTexts(a.family ?? '', b.family ?? '') ||
    (a.port ?? -1) - (b.port ?? -1) ||
    a.listedTs - b.listedTs
  );
}

const NO_DETAILS: AddressRecord['details'] = {};

function toRecord(listing: StoredListing, lists: ListsInMemory): AddressRecord {
  const { network, dataset, listedTs, seenTs, family, port, source } = listing;
  const details = listing.details === '' ? NO_DETAILS : JSON.parse(listing.details);
  return {
    network,
    dataset,
    listedTs,
    seenTs,
    validUntilTs: validUntil(listing),
    botname: family,
    source: source.name,
    details: port === null ? details : { ...details, dstport: port },
    isShared: dataset === 'BCL' && lists.isShared(network),
    removedTs: removalOf(listing, lists)?.removedTs ?? null,
  };
}

export function toLiveListing(listing: StoredListing): LiveListing {
  const { network, dataset, seenTs, source } = listing;
  const validUntilTs = validUntil(listing);
  return { network, dataset, seenTs, validUntilTs, source: source.name, trustPermille: source.trustPermille };
}
