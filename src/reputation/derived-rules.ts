import { KEY_BITS } from '../core/ip/key-network.ts';
import { type Episode, lifeOf } from './episode-rules.ts';
import { type StoredListing, URL_SOURCE } from './store.ts';

// A URL whose host is an address puts this address into XBL: every online run of its timeline is evidence from its first to
// its newest sighting. Nothing is stored: such listings are computed from the timelines when somebody asks (docs/timeline.md).

export const DERIVED_LIFE_SECONDS = lifeOf(URL_SOURCE, 'XBL');

/** Newest payloads of a URL that are searched for a family. */
export const MAX_PAYLOADS = 1_000;

/** `family`: the newest one of all URLs at the address. */
export function derivedListing(
  ip: Uint8Array,
  family: string | null,
  { listedTs, seenTs }: Pick<Episode, 'listedTs' | 'seenTs'>,
): StoredListing {
  const network = { ip, prefix: KEY_BITS };
  return { network, dataset: 'XBL', source: URL_SOURCE, family, port: null, listedTs, seenTs, details: '' };
}
