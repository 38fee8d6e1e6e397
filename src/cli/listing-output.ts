import { formatKeyNetwork } from '../core/ip/key-network.ts';
import type { DescribedListing } from '../reputation/listing-state.ts';
import type { NetworkListEntry } from '../reputation/store.ts';

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
