import { ADDRESS_DATASETS } from '../core/evidence.ts';
import { formatKeyNetwork, type KeyNetwork } from '../core/ip/key-network.ts';
import { isReserved } from '../core/ip/reserved.ts';
import { createAddressListCopy, type ListsInMemory } from './address-lists.ts';
import { compareListings, removalOf, validUntil } from './address-report.ts';
import type { ListingRemoval, ReputationStore, StoredListing } from './store.ts';

/** `allowed`: on an allow list. `reserved`: in a private, documentation or other reserved range. */
type ListingState = 'live' | 'expired' | 'removed' | 'allowed' | 'reserved';

/** A listing, and why responses contain it or not. */
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
  /** For several queries: the lists that were read before. */
  lists?: ListsInMemory;
};

type Store = Pick<ReputationStore, 'listings' | 'listVersion' | 'addressLists'>;

export async function readLists(store: Store): Promise<ListsInMemory> {
  return createAddressListCopy(store, { nowMs: Date.now }).current();
}

/** All listings of a network, also those that ended, the newest first. */
export async function describeListings(
  store: Store,
  network: KeyNetwork,
  { inside, covering, nowTs, allowReserved, lists: given }: Options,
): Promise<DescribedListing[]> {
  const lists = given ?? (await readLists(store));
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

/** `203.0.113.0/24 (DROP, drop)` */
export function listingText({ network, dataset, source }: StoredListing): string {
  return `${formatKeyNetwork(network)} (${dataset}, ${source.name})`;
}
