import { dice } from '../../src/core/dice.ts';
import type { ListingEvidence, Source } from '../../src/core/evidence.ts';
import { formatIp, ipv4Key } from '../../src/core/ip/address.ts';
import { KEY_BITS, networkAt } from '../../src/core/ip/key-network.ts';
import { type Observation, toObservation } from '../../src/core/observation.ts';

// Generated listings and domains for the benchmarks, always the same: addresses in 10.0.0.0/8, names below .example.

/** 50 addresses in each of 40,000 networks of 256 addresses. */
const SUBNETS = 40_000;
const PER_SUBNET = 50;
const STEP = Math.floor(256 / PER_SUBNET);
export const LISTINGS = SUBNETS * PER_SUBNET;

/** Wider networks beside them, as of a DROP list: every response about an address looks for networks that cover it. */
const NETWORKS = 1_500;
const FIRST_NETWORK = 0x0ac80000; // 10.200.0.0, behind the addresses
const NARROWEST = 24;
const WIDEST = 16;

const BATCH = 2_000;
const DAY = 86_400;
const YEAR = 365 * DAY;

/** The databases are kept between runs, for years: a listing must not expire meanwhile. */
export const BENCH_SOURCE: Source = {
  name: 'bench',
  trustPermille: 900,
  lifeSeconds: 50 * YEAR,
  intervalSeconds: null,
};
/** 2026-01-01T00:00:00Z */
const SEEN_TS = 1_767_225_600;
const FAMILIES = ['Mirai', 'Mozi', 'Gafgyt', null];

/** The first address of a subnet with fifty listings. */
export function subnetAt(i: number): string {
  return formatIp(ipv4Key(addressBits(i % SUBNETS, 0)));
}

/** A listed address. */
export function listedAddressAt(i: number): string {
  return formatIp(ipv4Key(addressBits(Math.floor(i / PER_SUBNET) % SUBNETS, i % PER_SUBNET)));
}

/** The listings in an order that is not that of their keys: feeds do not sort their addresses by network alone. */
export function* listingBatches(): Generator<ListingEvidence[]> {
  let batch: ListingEvidence[] = networks();
  // The stride and the number of listings have no factor in common, so every listing occurs once.
  for (let i = 0, at = 0; i < LISTINGS; i++, at = (at + 777_767) % LISTINGS) {
    batch.push(listingAt(at));
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

/** Lines of an address list, for the import. */
export function* addressList(lines: number): Generator<string> {
  const roll = dice(5);
  const seen = new Set<number>();
  while (seen.size < lines) {
    const bits = 0x0a000000 + roll(2 ** 24);
    if (seen.has(bits)) continue;
    seen.add(bits);
    yield `${formatIp(ipv4Key(bits))}\n`;
  }
}

function listingAt(i: number): ListingEvidence {
  const ip = ipv4Key(addressBits(Math.floor(i / PER_SUBNET), i % PER_SUBNET));
  const ts = SEEN_TS - (i % (30 * DAY));
  return {
    source: BENCH_SOURCE.name,
    network: { ip, prefix: KEY_BITS },
    dataset: 'XBL',
    family: FAMILIES[i % FAMILIES.length] ?? null,
    port: null,
    listedTs: ts - (i % 9) * DAY,
    ts,
    details: '',
  };
}

function networks(): ListingEvidence[] {
  return Array.from({ length: NETWORKS }, (_, i) => {
    const prefix = WIDEST + (i % (NARROWEST - WIDEST + 1));
    const network = networkAt(ipv4Key(FIRST_NETWORK + i * 256), prefix + KEY_BITS - 32);
    const seen = { listedTs: SEEN_TS - YEAR, ts: SEEN_TS };
    return { source: BENCH_SOURCE.name, network, dataset: 'DROP', family: null, port: null, ...seen, details: '' };
  });
}

function addressBits(subnet: number, place: number): number {
  return 0x0a000000 + subnet * 256 + place * STEP;
}

const DOMAINS = 100;
const URLS_PER_DOMAIN = 2_000;
const HOSTS_PER_DOMAIN = 5;

export function domainAt(i: number): string {
  return `site-${i % DOMAINS}.example`;
}

/** Each URL was seen online once, at its own time. */
export function* domainObservations(): Generator<Observation[]> {
  for (let domain = 0; domain < DOMAINS; domain++) {
    yield Array.from({ length: URLS_PER_DOMAIN }, (_, i) => {
      const url = `http://h${i % HOSTS_PER_DOMAIN}.${domainAt(domain)}/${i}.sh`;
      const result = toObservation({ ts: SEEN_TS - i * 3_600, url, status: 'online', reporter: 'bench' });
      if (!result.ok) throw new Error(result.reason);
      return result.observation;
    });
  }
}
