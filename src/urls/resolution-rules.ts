import { normalizeUrl } from '../core/url/normalize.ts';
import { pageOf, readPages } from '../database/pages.ts';
import type { UrlStore } from './store.ts';

/** The buckets that hold resolutions; one step in the index per bucket, where `select distinct` would read all rows. */
export const BUCKETS = `
  with recursive buckets (bucket) as (
    select min(bucket) from resolutions
    union all select (select min(r.bucket) from resolutions r where r.bucket > buckets.bucket) from buckets
    where bucket is not null)
  select bucket from buckets where bucket is not null`;

/** When a URL first had an address on one day, and the network of the address. */
export type Resolution = { ts: number; asn: number | null };

/**
 * Merges two resolutions of one URL, address and day: the earliest ts wins, and the network given with it. A missing
 * network is filled in from the other one.
 */
export function mergeResolution(old: Resolution, given: Resolution): Resolution & { isChanged: boolean } {
  const [first, second] = given.ts < old.ts ? [given, old] : [old, given];
  const asn = first.asn ?? second.asn;
  return { ts: first.ts, asn, isChanged: first !== old || asn !== old.asn };
}

/** The address that is the host of a URL; null for a host name. */
export function hostAddress(url: string): Uint8Array | null {
  const parsed = normalizeUrl(url);
  return parsed.ok ? parsed.ip : null;
}

export type NetworklessRow = [bucket: number, ip: Uint8Array, ts: number, urlId: number, hasNoNetwork: 0 | 1];
export type NetworklessKey = [bucket: number, ip: Uint8Array, ts: number, urlId: number];

type Read = (after: NetworklessKey, signal: AbortSignal) => NetworklessRow[] | Promise<NetworklessRow[]>;

const NO_ADDRESS = new Uint8Array(0);

/** Streams addresses without a network, each once per page and bucket. */
export function createPagedNetworkless(read: Read): UrlStore['networklessAddresses'] {
  return (signal) =>
    readPages<Uint8Array, NetworklessKey>([-1, NO_ADDRESS, -1, 0], { signal }, async (key) => {
      const rows = await read(key, signal);
      const { next } = pageOf(
        rows,
        ([, ip]) => ip,
        ([bucket, ip, ts, urlId]): NetworklessKey => [bucket, ip, ts, urlId],
      );
      const without = rows.filter((row) => row[4] === 1).map(([, ip]) => ip);
      return {
        items: without.filter((ip, i) => Buffer.compare(ip, without[i - 1] ?? NO_ADDRESS) !== 0),
        next,
      };
    });
}
