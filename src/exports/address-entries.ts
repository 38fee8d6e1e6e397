import { toByteText } from '../core/byte-text.ts';
import { ADDRESS_DATASETS } from '../core/evidence.ts';
import type { KeyNetwork } from '../core/ip/key-network.ts';
import { createFamilySets, type NetworkSet, withoutNetworks } from '../core/ip/network-set.ts';
import { isReserved, RESERVED } from '../core/ip/reserved.ts';
import { DAY_SECONDS } from '../core/time.ts';
import { compareListings, countsAsOneAddress, removalOf, validUntil } from '../reputation/address-report.ts';
import { compareNetworks } from '../reputation/listing-rows.ts';
import { readLists } from '../reputation/listing-state.ts';
import type { AddressLists, StoredListing } from '../reputation/store.ts';
import { type Build, createNewest } from './build.ts';
import type { AddressEntry, LeftOutReason } from './content.ts';

/** An address that more registrable domains resolve to is shared hosting. */
export const MAX_DOMAINS_AT_ADDRESS = 20;

/** Resolutions that count for that. */
export const RESOLUTION_SECONDS = 90 * DAY_SECONDS;

/** Addresses whose domains are counted together. */
const ADDRESSES_PER_READ = 5_000;

export async function addressEntries(build: Build): Promise<AddressEntry[]> {
  const { nowTs, store } = build;
  const newest = createNewest<AddressEntry>(build, { tsOf: ({ listedTs }) => listedTs, compareKeys });
  const guard = createAddressGuard(build, await store.addressLists());
  let pending: AddressEntry[] = [];
  const flush = async () => {
    const counts = await store.domainsAt(
      pending.map(({ network }) => network),
      nowTs - RESOLUTION_SECONDS,
      nowTs,
    );
    for (const [i, entry] of pending.entries()) {
      if ((counts[i] ?? 0) > MAX_DOMAINS_AT_ADDRESS) build.leaveOut('shared-address');
      else newest.add(entry);
    }
    pending = [];
  };
  for (const listings of (await liveListings(build)).values()) {
    const entry = joined(listings);
    for (const network of guard(entry.network)) {
      // A network of many addresses has many domains without being shared.
      if (countsAsOneAddress(network)) pending.push({ ...entry, network });
      else newest.add({ ...entry, network });
    }
    if (pending.length >= ADDRESSES_PER_READ) await flush();
  }
  await flush();
  return newest.sorted();
}

/** Listings that fit the filter, by network and dataset. */
async function liveListings(build: Build): Promise<Map<string, StoredListing[]>> {
  const { store, definition, filter, nowTs, options, end } = build;
  const lists = await readLists(store);
  const datasets = definition.filter.datasets.length === 0 ? ADDRESS_DATASETS : definition.filter.datasets;
  const sinceTs = Math.max(filter.seenSinceTs, nowTs - lists.longestLifeSeconds);
  const found: StoredListing[] = [];
  for await (const page of store.listingsForList(datasets, sinceTs)) {
    for (const listing of page) {
      const { network, family, source, seenTs } = listing;
      const validUntilTs = validUntil(listing);
      if (nowTs >= validUntilTs || filter.family(family) !== null || filter.source(source.name) !== null) continue;
      if (removalOf(listing, lists) !== null || (!options.allowReserved && isReserved(network))) continue;
      end.at(validUntilTs);
      end.at(filter.tooOldTs(seenTs));
      found.push(listing);
    }
  }
  return Map.groupBy(found, ({ network: { ip, prefix }, dataset }) => `${toByteText(ip)}${prefix} ${dataset}`);
}

/** One entry for the listings of several sources. */
function joined(listings: StoredListing[]): AddressEntry {
  const inOrder = listings.length === 1 ? listings : listings.sort(compareListings);
  const { network, dataset } = inOrder[0] as StoredListing;
  return {
    network,
    dataset,
    listedTs: Math.min(...inOrder.map(({ listedTs }) => listedTs)),
    seenTs: Math.max(...inOrder.map(({ seenTs }) => seenTs)),
    validUntilTs: Math.max(...inOrder.map(validUntil)),
    family: inOrder.find(({ family }) => family !== null)?.family ?? null,
    port: inOrder.find(({ port }) => port !== null)?.port ?? null,
    sources: [...new Set(inOrder.map(({ source }) => source.name))].sort(),
  };
}

function compareKeys(a: AddressEntry, b: AddressEntry): number {
  return compareNetworks(a.network, b.network) || (a.dataset < b.dataset ? -1 : 1);
}

/** What is left of a network: reserved, excluded, allowed and shared addresses are also left out inside wider networks. */
export function createAddressGuard(build: Build, { entries }: AddressLists): (network: KeyNetwork) => KeyNetwork[] {
  const { exclusions, options } = build;
  const setOf = (kind: 'allow' | 'shared') =>
    createFamilySets(entries.filter(({ as }) => as === kind).map(({ network }) => network));
  const rules: [LeftOutReason, NetworkSet][] = [
    ...(options.allowReserved ? [] : [['reserved', RESERVED] as [LeftOutReason, NetworkSet]]),
    ['excluded', { covers: exclusions.isNetworkExcluded, inside: exclusions.holesIn }],
    ['allowed', setOf('allow')],
    ['shared-address', setOf('shared')],
  ];
  return (network) => {
    let left = [network];
    for (const [reason, set] of rules) {
      const before = left;
      left = before.flatMap((one) => (set.covers(one) ? [] : withoutNetworks(one, set.inside(one))));
      if (left.length !== before.length || left.some((one, i) => one !== before[i])) build.leaveOut(reason);
      if (left.length === 0) break;
    }
    return left;
  };
}
