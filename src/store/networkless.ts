import { pageOf, readPages } from './pages.ts';
import type { Store } from './store.ts';

export type NetworklessRow = [bucket: number, ip: Uint8Array, ts: number, urlId: number, isWithout: 0 | 1];
export type NetworklessKey = [bucket: number, ip: Uint8Array, ts: number, urlId: number];

type Read = (after: NetworklessKey, signal: AbortSignal) => NetworklessRow[] | Promise<NetworklessRow[]>;

const NO_ADDRESS = new Uint8Array(0);

/** Addresses without a network; each is told once per page and bucket of time. */
export function createNetworkless(read: Read): Store['networklessAddresses'] {
  return (signal) => {
    const bounds = { limit: Number.POSITIVE_INFINITY, signal };
    return readPages<Uint8Array, NetworklessKey>([-1, NO_ADDRESS, -1, 0], bounds, async (key) => {
      const rows = await read(key, signal);
      const { next } = pageOf(
        rows,
        ([, ip]) => ip,
        ([bucket, ip, ts, urlId]): NetworklessKey => [bucket, ip, ts, urlId],
      );
      const without = rows.filter((row) => row[4] === 1).map(([, ip]) => ip);
      return {
        items: without.filter((ip, i) => i === 0 || Buffer.compare(ip, without[i - 1] ?? NO_ADDRESS) !== 0),
        next,
      };
    });
  };
}
