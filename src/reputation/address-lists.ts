import { toByteText } from '../core/byte-text.ts';
import type { NetworkListKind } from '../core/evidence.ts';
import type { KeyNetwork } from '../core/ip/key-network.ts';
import { createFamilySets } from '../core/ip/network-set.ts';
import type { AddressLists, ListingRemoval, ReputationStore, StoredListing } from './store.ts';

/** Allowed and shared networks and removals at one version of the store. A copy is never changed, only replaced. */
export type ListsInMemory = {
  /** No listing lives longer. */
  longestLifeSeconds: number;
  /** Whether all of a network is on allow lists; several entries may cover it together. */
  isAllowed(network: KeyNetwork): boolean;
  isShared(network: KeyNetwork): boolean;
  /** The removals of this network, dataset and source. */
  removalsOf(listing: Pick<StoredListing, 'network' | 'dataset' | 'source'>): readonly ListingRemoval[];
};

/** The lists of a store in memory, at most a second behind it; after a pause of five seconds they are compared first. */
export type AddressListCopy = {
  /** A promise only for the first call, and for the first one after a pause. */
  current(): ListsInMemory | Promise<ListsInMemory>;
  /** With every change up to now. */
  fresh(): Promise<ListsInMemory>;
};

type Options = { nowMs(): number };

const POLL_MS = 1_000;
/** Older lists are not used. */
const MAX_AGE_MS = 5_000;

/** Nothing has to be closed: the store is asked for its version when the lists are used, at most once a second. */
export function createAddressListCopy(
  store: Pick<ReputationStore, 'listVersion' | 'addressLists'>,
  { nowMs }: Options,
): AddressListCopy {
  let lists: (ListsInMemory & { version: number }) | null = null;
  let checkedMs = Number.NEGATIVE_INFINITY;
  let refreshing: Promise<ListsInMemory> | null = null;

  /** Concurrent calls share one refresh. */
  function refresh(): Promise<ListsInMemory> {
    refreshing ??= compareWithStore().finally(() => {
      refreshing = null;
    });
    return refreshing;
  }

  async function compareWithStore(): Promise<ListsInMemory> {
    const startedMs = nowMs();
    const version = await store.listVersion();
    if (lists === null || lists.version !== version) {
      // What was read may be newer than the version, never older.
      lists = { ...toLists(await store.addressLists()), version };
    }
    checkedMs = startedMs;
    return lists;
  }

  return {
    current() {
      // The absolute difference, because the clock may have been set back.
      const ageMs = Math.abs(nowMs() - checkedMs);
      if (lists !== null && ageMs < POLL_MS) return lists;
      const refreshed = refresh();
      if (lists === null || ageMs > MAX_AGE_MS) return refreshed;
      refreshed.catch(() => {}); // the next call tries again, and fails when the lists are too old
      return lists;
    },
    async fresh() {
      // One that is running may have read the store before the change. All calls meanwhile share the next one.
      await refreshing?.catch(() => {});
      return refresh();
    },
  };
}

function toLists({ entries, removals, longestLifeSeconds }: AddressLists): ListsInMemory {
  const networksOf = (kind: NetworkListKind) => entries.filter(({ as }) => as === kind).map(({ network }) => network);
  const byListing = Map.groupBy(removals, ({ network, dataset, sourceId }) => keyOf(network, dataset, sourceId));
  return {
    longestLifeSeconds,
    isAllowed: createSearch(networksOf('allow')),
    isShared: createSearch(networksOf('shared')),
    removalsOf({ network, dataset, source }) {
      return byListing.size === 0 ? NO_REMOVALS : (byListing.get(keyOf(network, dataset, source.id)) ?? NO_REMOVALS);
    },
  };
}

const NO_REMOVALS: readonly ListingRemoval[] = [];

function createSearch(networks: readonly KeyNetwork[]): (network: KeyNetwork) => boolean {
  return networks.length === 0 ? () => false : createFamilySets(networks).covers;
}

function keyOf({ ip, prefix }: KeyNetwork, dataset: string, sourceId: number): string {
  return `${toByteText(ip)}${prefix} ${dataset} ${sourceId}`;
}
