import type { ListingSubject } from '../changes/store.ts';
import type { ChangeViews } from '../changes/wire.ts';
import { ADDRESS_DATASETS } from '../core/evidence.ts';
import { KEY_BITS, type KeyNetwork } from '../core/ip/key-network.ts';
import { isReserved } from '../core/ip/reserved.ts';
import type { AddressListCopy, ListsInMemory } from './address-lists.ts';
import { createAddressReport, removalOf, validUntil } from './address-report.ts';
import { type FindListings, findDomain } from './domain-report.ts';
import { datasetOf } from './listing-rows.ts';
import { type ReputationStore, type StoredListing, URL_SOURCE } from './store.ts';
import { toWireListing } from './wire.ts';

type Services = {
  store: Pick<ReputationStore, 'listings' | 'domainState'>;
  lists: AddressListCopy;
  now(): number;
  allowReserved: boolean;
};

/** `isShown`: false if the operator has removed the listing, or allowed its network. */
type ListingView = { validUntilTs: number; isShown: boolean };

/** Listings and domains as the change feed shows them: the state at the time of the query. */
export function createChangeViews({ store, lists, now, allowReserved }: Services): ChangeViews {
  const report = createAddressReport({ store, lists, now, allowReserved });
  const findListings: FindListings = (ip) => report.liveListings(ip, ADDRESS_DATASETS, now());

  /** Null if no response ever shows the listing. */
  async function view(subject: string | ListingSubject, current: ListsInMemory): Promise<ListingView | null> {
    const isDerived = typeof subject === 'string';
    const [ip, prefix, dataset] = isDerived ? [subject, KEY_BITS, 0] : subject;
    const network: KeyNetwork = { ip: Buffer.from(ip, 'hex'), prefix };
    if (!allowReserved && isReserved(network)) return null;
    const query = { network, inside: false, covering: false, datasets: [datasetOf(dataset)], seenSinceTs: 0 };
    const found = await store.listings(query);
    const newest = found
      .filter((listing) => (isDerived ? listing.source.id === URL_SOURCE.id : isListing(listing, subject)))
      .reduce<StoredListing | null>((a, b) => (a === null || b.seenTs > a.seenTs ? b : a), null);
    if (newest === null) return null;
    const isShown = removalOf(newest, current) === null && !current.isAllowed(network);
    return { validUntilTs: validUntil(newest), isShown };
  }

  return {
    async listings() {
      const current = await lists.fresh();
      return (subject) => view(subject, current);
    },
    async domain(name) {
      const found = await findDomain(store, findListings, name, now());
      if (found === null) return null;
      const { ts: _ts, ...listing } = toWireListing(found); // a line has the time of the change under this key
      return listing;
    },
  };
}

function isListing({ source, family, port }: StoredListing, [, , , name, ofFamily, ofPort]: ListingSubject): boolean {
  return source.name === name && family === ofFamily && port === ofPort && source.id !== URL_SOURCE.id;
}
