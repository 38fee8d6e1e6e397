import { hostParts } from '../core/domain-name.ts';
import { ADDRESS_DATASETS, type AddressDataset } from '../core/evidence.ts';
import { formatIp } from '../core/ip/address.ts';
import { DOMAIN_DATASET } from '../core/tier.ts';
import { explainUrl } from '../core/url/explain.ts';
import type { NormalizedUrl } from '../core/url/normalize.ts';
import type { UrlAddress, UrlDetails, UrlSummary } from '../urls/store.ts';
import { HISTORY_LIMIT, SHOWN_STATUS, toWirePayload } from '../urls/wire.ts';
import type { UrlPageResponse } from './schemas.ts';
import { firstUrls, seenUrls } from './seen-urls.ts';
import type { PortalServices } from './services.ts';
import { ON_HOST_MAX, toWireAddress, toWireConfirmed, toWireUrlLine } from './wire.ts';

/** Events on the page. A URL that changed its status more often is cut off at the oldest ones. */
const EVENTS_MAX = 1_000;

/** Newest addresses of which the listings are looked up. */
const CHECKED_ADDRESSES = 10;

/** `datasets` are those of the account. */
export async function urlPage(
  services: PortalServices,
  input: string,
  normal: NormalizedUrl,
  datasets: readonly string[],
): Promise<UrlPageResponse> {
  const { url, host } = normal;
  const { domain, ip } = hostParts(host);
  const [details, onHost, domainListed] = await Promise.all([
    services.store.urlDetails(url, EVENTS_MAX),
    otherUrls(services, normal),
    domain !== null && datasets.includes(DOMAIN_DATASET) ? services.isDomainListed(domain) : null,
  ]);
  const addresses = details?.addresses ?? addressesOf(onHost.urls);
  const checked = ip === null ? addresses.slice(0, CHECKED_ADDRESSES).map((address) => address.ip) : [ip];
  return {
    input,
    url,
    steps: explainUrl(input, normal).map(({ text }) => text),
    ...statusFields(details),
    events: (details?.events ?? []).map(toWireConfirmed).reverse(),
    payloads: (details?.payloads ?? []).slice(0, HISTORY_LIMIT).map(toWirePayload),
    addresses: addresses.map((address) => toWireAddress(address, services)),
    host,
    domain,
    on_host: { urls: onHost.urls.map(toWireUrlLine), truncated: onHost.isTruncated },
    domain_listed: domainListed,
    address_listed: await liveDatasets(services, checked, datasets),
  };
}

function statusFields(details: UrlDetails | null) {
  const event = details?.events[0];
  return {
    id: details?.id ?? null,
    status: event === undefined ? null : SHOWN_STATUS[event.kind],
    since_ts: event?.ts ?? null,
    confirmed_ts: event?.confirmedTs ?? null,
    reporter: event?.reporter || null,
    removal: event?.removal || null,
    first_seen_ts: details === null || details.events.length === EVENTS_MAX ? null : firstSeen(details),
    tags: details?.tags ?? [],
  };
}

function firstSeen({ events, payloads }: UrlDetails): number | null {
  const times = [events.at(-1)?.ts, payloads.at(-1)?.ts].filter((ts) => ts !== undefined);
  return times.length === 0 ? null : Math.min(...times);
}

async function otherUrls({ store, now }: PortalServices, { host, url }: NormalizedUrl) {
  const seen = await seenUrls(store, { by: 'host', host }, { since: 0, until: now() });
  const others = { ...seen, facts: seen.facts.filter((fact) => fact.url !== url) };
  return firstUrls(store, others, ON_HOST_MAX);
}

/** Each address once, newest first. */
function addressesOf(urls: readonly UrlSummary[]): UrlAddress[] {
  const newest = new Map<string, UrlAddress>();
  for (const { address } of urls) {
    if (address === null) continue;
    const text = formatIp(address.ip);
    if (address.ts > (newest.get(text)?.ts ?? -1)) newest.set(text, address);
  }
  return [...newest.values()].sort((a, b) => b.ts - a.ts);
}

async function liveDatasets(
  { addresses, now }: PortalServices,
  ips: readonly Uint8Array[],
  datasets: readonly string[],
): Promise<AddressDataset[]> {
  const asked = ADDRESS_DATASETS.filter((dataset) => datasets.includes(dataset));
  if (asked.length === 0) return [];
  const listings = await Promise.all(ips.map((ip) => addresses.liveListings(ip, asked, now())));
  const listed = new Set(listings.flat().map(({ dataset }) => dataset));
  return asked.filter((dataset) => listed.has(dataset));
}
