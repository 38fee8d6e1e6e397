import { containsNetwork, parseKeyNetwork } from '../src/core/ip/key-network.ts';
import type { AddressPageResponse, UrlPageResponse } from '../src/portal/schemas.ts';
import { agoText, counted, dateText, nowTs } from './format.ts';
import { addressPath, domainPath, hostAddress } from './query.ts';

// Listings of an address or a network in words.

export type Listing = AddressPageResponse['listings'][number];
export type Dataset = Listing['dataset'];

/** The most dangerous first: whoever looks up an address reads the first ones. */
export const DATASETS: Record<Dataset, { name: string; meaning: string }> = {
  BCL: { name: 'botnet controller', meaning: 'Infected machines take their orders there.' },
  DROP: { name: 'network under hostile control', meaning: 'Stolen or rented for crime as a whole.' },
  XBL: { name: 'infected or attacking host', meaning: 'It attacks others, or serves malware.' },
  CSS: { name: 'source of spam', meaning: 'It sends unwanted mail.' },
};
const ORDER = Object.keys(DATASETS) as Dataset[];

/** By dataset, live ones first. */
export function byDataset(listings: readonly Listing[]): [dataset: Dataset, listings: Listing[]][] {
  return ORDER.map((dataset): [Dataset, Listing[]] => [
    dataset,
    listings
      .filter((listing) => listing.dataset === dataset)
      .toSorted((a, b) => Number(b.state === 'live') - Number(a.state === 'live') || b.seen_ts - a.seen_ts),
  ]).filter(([, found]) => found.length > 0);
}

export type Verdict = {
  state: 'listed' | 'inside' | 'past' | 'clean';
  /** The datasets of the live listings. */
  datasets: Dataset[];
  text: string;
};

/** A listing of a part of a network does not list the network. */
export function verdictOf({ cidr, listings }: Pick<AddressPageResponse, 'cidr' | 'listings'>, now = nowTs()): Verdict {
  const live = listings.filter(({ state }) => state === 'live');
  const covering = live.filter((listing) => covers(listing.cidr, cidr));
  const decisive = covering.length > 0 ? covering : live;
  if (decisive.length > 0) {
    const untilTs = Math.max(...decisive.map((listing) => listing.valid_until_ts));
    const datasets = ORDER.filter((dataset) => decisive.some((listing) => listing.dataset === dataset));
    const until = `until ${dateText(untilTs)} unless it is seen again`;
    if (covering.length > 0) return { state: 'listed', datasets, text: until };
    const count = new Set(live.map((listing) => listing.cidr)).size;
    const inside = count === 1 ? 'address or network' : 'addresses or networks';
    return { state: 'inside', datasets, text: `${count} listed ${inside} inside` };
  }
  if (listings.length === 0)
    return { state: 'clean', datasets: [], text: 'No live or past listing. That does not make it safe.' };
  const seenTs = Math.max(...listings.map((listing) => listing.seen_ts));
  const text = `${counted(listings.length, 'past listing')}, last seen ${agoText(seenTs, now)}`;
  return { state: 'past', datasets: [], text };
}

function covers(outer: string, inner: string): boolean {
  const [a, b] = [parseKeyNetwork(outer), parseKeyNetwork(inner)];
  return a !== null && b !== null && containsNetwork(a, b);
}

type UrlHost = Pick<UrlPageResponse, 'host' | 'domain' | 'address_listed' | 'domain_listed'> & {
  addresses: readonly { ip: string }[];
};

/**
 * That the address or the domain of a URL is listed, with the page that says why. The server does not say which one of several
 * addresses is listed: then there is no page.
 */
export function hostListings(report: UrlHost): { text: string; path: string | null }[] {
  const { host, domain, addresses, address_listed: datasets, domain_listed: isDomainListed } = report;
  const address = hostAddress(host) ?? (addresses.length === 1 ? addresses[0]?.ip : undefined);
  const names = ORDER.filter((dataset) => datasets.includes(dataset)).map((dataset) => DATASETS[dataset].name);
  return [
    ...(names.length === 0
      ? []
      : [{ text: `Address listed: ${names.join(', ')}`, path: address === undefined ? null : addressPath(address) }]),
    ...(isDomainListed && domain !== null ? [{ text: 'Domain listed', path: domainPath(domain) }] : []),
  ];
}

const DETAIL_NAMES: Record<string, string> = {
  cc: 'country',
  lat: 'latitude',
  lon: 'longitude',
  dstport: 'port',
  dstip: 'contacted',
  srcip: 'from',
  srcport: 'from port',
  helo: 'mail name',
  subject: 'mail subject',
  abused: 'abused machine of a third party',
  shared: 'shared by many users',
  heuristic: 'noticed by',
  asn: 'AS number',
};

/** `port 8080`, `country ZZ`; of a yes or no, only what is so. */
export function detailTexts(details: Listing['details']): string[] {
  return Object.entries(details).flatMap(([key, value]) => {
    const name = DETAIL_NAMES[key] ?? key;
    if (value === true) return [name];
    return value === false ? [] : [`${name} ${value}`];
  });
}

/** How a listing ends, or ended. */
export function endText({ state, removed_ts: removedTs, valid_until_ts: untilTs }: Listing, now = nowTs()): string {
  if (removedTs !== null) return `removed by an administrator ${agoText(removedTs, now)}`;
  return state === 'live' ? `until ${dateText(untilTs)}` : `ended ${agoText(untilTs, now)}`;
}
