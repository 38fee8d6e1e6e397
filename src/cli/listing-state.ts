import type { Intelligence } from '../app/stores.ts';
import { ADDRESS_DATASETS } from '../core/evidence.ts';
import { formatKeyNetwork, type KeyNetwork } from '../core/ip/key-network.ts';
import { isReserved } from '../core/ip/reserved.ts';
import { createAddressLists, type ListsInMemory } from '../reputation/address-lists.ts';
import { compareListings, removalOf, validUntil } from '../reputation/address-report.ts';
import { compareNetworks } from '../reputation/listing-rows.ts';
import type { ListingRemoval, NetworkListEntry, StoredListing } from '../reputation/store.ts';

/** `allowed`: on an allow list. `reserved`: in a private, documentation or other reserved range. */
export type ListingState = 'live' | 'expired' | 'removed' | 'allowed' | 'reserved';

/** A listing, and why answers contain it or not. */
export type DescribedListing = StoredListing & {
  validUntilTs: number;
  state: ListingState;
  /** If `state` is `removed`. */
  removal: ListingRemoval | null;
};

type Options = {
  inside: boolean;
  covering: boolean;
  nowTs: number;
  /** Reserved networks are listed like others. */
  allowReserved: boolean;
};

type Store = Pick<Intelligence, 'listings' | 'listVersion' | 'addressLists'>;

/** All listings of a network, also those that ended, the newest first. */
export async function describeListings(
  store: Store,
  network: KeyNetwork,
  { inside, covering, nowTs, allowReserved }: Options,
): Promise<DescribedListing[]> {
  const lists = await createAddressLists(store, { nowMs: Date.now }).current();
  const found = await store.listings({ network, inside, covering, datasets: ADDRESS_DATASETS, seenSinceTs: 0 });
  return found.map((listing) => describe(listing, lists, { nowTs, allowReserved })).sort(compareListings);
}

function describe(
  listing: StoredListing,
  lists: ListsInMemory,
  { nowTs, allowReserved }: Pick<Options, 'nowTs' | 'allowReserved'>,
): DescribedListing {
  const validUntilTs = validUntil(listing);
  const removal = removalOf(listing, lists);
  const stateOf = (): ListingState => {
    if (removal !== null) return 'removed';
    if (nowTs >= validUntilTs) return 'expired';
    if (lists.isAllowed(listing.network)) return 'allowed';
    return !allowReserved && isReserved(listing.network) ? 'reserved' : 'live';
  };
  return { ...listing, validUntilTs, state: stateOf(), removal };
}

export function isSame(a: KeyNetwork, b: KeyNetwork): boolean {
  return compareNetworks(a, b) === 0;
}

/** `203.0.113.0/24 (DROP, drop)` */
export function listingText({ network, dataset, source }: StoredListing): string {
  return `${formatKeyNetwork(network)} (${dataset}, ${source.name})`;
}

/** A listing for programs; the keys are stable. Unknown values are absent. */
export function listingJson(listing: DescribedListing) {
  const { network, dataset, source, family, port, listedTs, seenTs, validUntilTs, state, removal, details } = listing;
  return {
    network: formatKeyNetwork(network),
    dataset,
    source: source.name,
    botname: family ?? undefined,
    dstport: port ?? undefined,
    listed: listedTs,
    seen: seenTs,
    valid_until: validUntilTs,
    state,
    remove_timestamp: removal?.removedTs,
    removed_until: removal?.untilTs,
    removal_reason: removal?.reason || undefined,
    details: details === '' ? undefined : JSON.parse(details),
  };
}

export function entryJson({ as, network, source, ts, reason }: NetworkListEntry) {
  return { list: as, network: formatKeyNetwork(network), source, ts, reason };
}
