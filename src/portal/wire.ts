import { formatIp } from '../core/ip/address.ts';
import { formatKeyNetwork } from '../core/ip/key-network.ts';
import { type AddressRecord, shownDetails } from '../reputation/wire.ts';
import type { ConfirmedEvent, UrlAddress, UrlSummary } from '../urls/store.ts';
import { toWireEvent } from '../urls/wire.ts';

// The JSON of the responses for pages. `schemas.ts` describes it.

/** Other URLs on the host of a URL. A search for the host finds all. */
export const ON_HOST_MAX = 10;

/** URLs and names on the page of an address. A search for the address finds all. */
export const PAGE_LIST_MAX = 50;

/** The network of an address by the table of networks, and the name of an AS number. */
export type NetworkNames = {
  networkOf(ip: Uint8Array): { asn: number; name: string | null } | null;
  nameOf(asn: number): string | null;
};

/** The stored AS number wins: it is that of the time at which the address was seen. */
export function networkFields({ ip, asn }: Pick<UrlAddress, 'ip' | 'asn'>, names: NetworkNames) {
  const found = names.networkOf(ip);
  if (asn === null || asn === found?.asn) return { asn: found?.asn ?? asn, network: found?.name ?? null };
  return { asn, network: names.nameOf(asn) };
}

export function toWireAddress(address: UrlAddress, names: NetworkNames) {
  return { ip: formatIp(address.ip), ...networkFields(address, names), ts: address.ts };
}

export const toWireUrlLine = ({ id, url, status, ts, family }: UrlSummary) => ({ id, url, status, ts, family });

export const toWireNewest = (summary: UrlSummary) => ({ ...toWireUrlLine(summary), reporter: summary.reporter });

export function toWireConfirmed(event: ConfirmedEvent) {
  return { ...toWireEvent(event), confirmed_ts: event.confirmedTs };
}

export function toWireListing(record: AddressRecord, nowTs: number) {
  const { dataset, network, listedTs, seenTs, validUntilTs, removedTs, source, botname } = record;
  return {
    dataset,
    state: removedTs === null && nowTs < validUntilTs ? ('live' as const) : ('past' as const),
    cidr: formatKeyNetwork(network),
    listed_ts: listedTs,
    seen_ts: seenTs,
    valid_until_ts: validUntilTs,
    removed_ts: removedTs,
    source,
    botname,
    details: shownDetails(record),
  };
}

/** The page of a domain that was never seen. */
export const unknownDomain = (domain: string) => ({
  known: false,
  domain,
  score: null,
  dimensions: {},
  listed: false,
  listed_until_ts: null,
  evidence_ts: null,
  last_seen_ts: null,
  abused: false,
  abused_reason: null,
  tags: [],
  whois: { created_ts: null, expires_ts: null, registrar: null },
  reasons: [],
  contexts: [],
  hostnames: [],
  addresses: [],
  name_servers: [],
  senders: [],
  urls: [],
  files: [],
  truncated: { hostnames: false, addresses: false, name_servers: false, senders: false, urls: false, files: false },
  settings: null,
});
