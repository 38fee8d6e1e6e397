import assert from 'node:assert/strict';
import type { Intelligence } from '../../../src/app/stores.ts';
import { ADDRESS_DATASETS, type ListingEvidence } from '../../../src/core/evidence.ts';
import { formatKeyNetwork, type KeyNetwork, parseKeyNetwork } from '../../../src/core/ip/key-network.ts';
import type { ListingQuery, StoredListing } from '../../../src/reputation/store.ts';

export const DAY = 86_400;
/** 2026-01-01T00:00:00Z */
export const T = 1_767_225_600;

export function networkOf(text: string): KeyNetwork {
  return parseKeyNetwork(text) ?? assert.fail(`not a network: ${text}`);
}

/** Evidence of one second, unless `listedTs` is given. */
export function listed(cidr: string, given: Partial<ListingEvidence> = {}): ListingEvidence {
  const { ts = T } = given;
  return {
    source: 'feed',
    network: networkOf(cidr),
    dataset: 'DROP',
    family: null,
    port: null,
    details: '',
    listedTs: ts,
    ts,
    ...given,
  };
}

export async function ask(
  store: Intelligence,
  cidr: string,
  given: Partial<ListingQuery> = {},
): Promise<StoredListing[]> {
  const query = { inside: true, covering: true, datasets: ADDRESS_DATASETS, seenSinceTs: 0, ...given };
  return store.listings({ network: networkOf(cidr), ...query });
}

/** Listings as sorted texts: network, dataset, days since `T` of the first and the newest evidence. */
export function shown(listings: readonly StoredListing[]): string[] {
  const day = (ts: number) => (ts - T) / DAY;
  return listings
    .map(({ network, dataset, source, family, port, listedTs, seenTs, details }) =>
      [
        formatKeyNetwork(network),
        dataset,
        source.name,
        `${day(listedTs)}…${day(seenTs)}`,
        ...[family, port, details].filter((value) => value !== null && value !== ''),
      ].join(' '),
    )
    .sort();
}

export async function find(store: Intelligence, cidr: string, given: Partial<ListingQuery> = {}): Promise<string[]> {
  return shown(await ask(store, cidr, given));
}
