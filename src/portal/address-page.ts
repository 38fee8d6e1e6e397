import { hostParts } from '../core/domain-name.ts';
import { ADDRESS_DATASETS } from '../core/evidence.ts';
import { formatIp } from '../core/ip/address.ts';
import { formatKeyNetwork, KEY_BITS, type KeyNetwork, keyRanges } from '../core/ip/key-network.ts';
import { isInRanges } from '../core/ip/network.ts';
import { DOMAIN_DATASET, URL_DATASET } from '../core/tier.ts';
import { normalizeUrl } from '../core/url/normalize.ts';
import type { AddressRecord } from '../reputation/wire.ts';
import type { AddressPageResponse } from './schemas.ts';
import { firstUrls, type SeenUrls, seenUrls } from './seen-urls.ts';
import type { PortalServices } from './services.ts';
import { networkFields, PAGE_LIST_MAX, toWireListing, toWireUrlLine } from './wire.ts';

/** Listings on the page. The endpoints of addresses return more. */
const LISTINGS_MAX = 200;

const NOTHING_SEEN: SeenUrls = { facts: [], isComplete: true };

/** `datasets` are those of the account. */
export async function addressPage(
  services: PortalServices,
  network: KeyNetwork,
  datasets: readonly string[],
): Promise<AddressPageResponse> {
  const { store, now } = services;
  const hasUrls = datasets.includes(URL_DATASET);
  const hasDomains = datasets.includes(DOMAIN_DATASET);
  const cidr = formatKeyNetwork(network);
  const key = { by: 'ip', network: { canonical: cidr, cost: 1, ranges: keyRanges(network) } } as const;
  const window = { since: 0, until: now() };
  const [listings, seen] = await Promise.all([
    listingsOf(services, network, datasets),
    hasUrls || hasDomains ? seenUrls(store, key, window) : NOTHING_SEEN,
  ]);
  const { urls, isTruncated } = await firstUrls(store, hasUrls ? seen : NOTHING_SEEN, PAGE_LIST_MAX);
  const domains = hasDomains ? await domainsOf(services, network, seen) : { names: [], isComplete: true };
  const seenAsn =
    urls.find(({ address }) => address?.asn && isInRanges(address.ip, key.network.ranges))?.address?.asn ?? null;
  return {
    cidr,
    ip: formatIp(network.ip),
    ...networkFields({ ip: network.ip, asn: seenAsn }, services),
    listings: listings
      .slice(0, LISTINGS_MAX)
      .sort(newestFirst)
      .map((record) => toWireListing(record, now())),
    listings_truncated: listings.length > LISTINGS_MAX,
    domains: domains.names.slice(0, PAGE_LIST_MAX),
    domains_truncated: domains.names.length > PAGE_LIST_MAX || !domains.isComplete,
    urls: urls.map(toWireUrlLine),
    urls_truncated: isTruncated,
  };
}

const newestFirst = (a: AddressRecord, b: AddressRecord) => b.seenTs - a.seenTs;

/** Live and past ones, first those around the network: many newer ones inside it must not displace them. */
async function listingsOf(
  { addresses }: PortalServices,
  network: KeyNetwork,
  datasets: readonly string[],
): Promise<AddressRecord[]> {
  const asked = ADDRESS_DATASETS.filter((dataset) => datasets.includes(dataset));
  if (asked.length === 0) return [];
  const query = { network, datasets: asked, type: 'history', sinceTs: null, untilTs: null } as const;
  // Those of a single address are all in the first response.
  const modes = network.prefix === KEY_BITS ? (['listings'] as const) : (['listings', 'listed'] as const);
  const found = await Promise.all(modes.map((mode) => addresses.records({ ...query, mode, limit: LISTINGS_MAX + 1 })));
  const distinct = new Map(found.flat().map((record) => [recordKey(record), record]));
  return [...distinct.values()];
}

function recordKey({ network, dataset, source, botname, listedTs, details }: AddressRecord): string {
  return JSON.stringify([formatKeyNetwork(network), dataset, source, botname, listedTs, details.dstport]);
}

/** The host names of the URLs that were seen there, and the names that facts give; newest first. */
async function domainsOf({ store }: PortalServices, network: KeyNetwork, { facts, isComplete }: SeenUrls) {
  const given = await store.namesAt(network);
  const names = new Map(
    given.names.map(({ hostname, domain, lastTs }) => [hostname, { domain, hostname, last_ts: lastTs }]),
  );
  for (const { url, ts } of facts) {
    const normal = normalizeUrl(url);
    const domain = normal.ok ? hostParts(normal.host).domain : null;
    if (!normal.ok || domain === null || ts <= (names.get(normal.host)?.last_ts ?? -1)) continue;
    names.set(normal.host, { domain, hostname: normal.host, last_ts: ts });
  }
  const newest = [...names.values()].sort((a, b) => b.last_ts - a.last_ts || (a.hostname < b.hostname ? -1 : 1));
  return { names: newest, isComplete: isComplete && given.isComplete };
}
