import { PAGE_ROWS, pageOf, readPages } from '../pages.ts';
import type { Database } from './database.ts';

type Row = [bucket: number, ip: Uint8Array, ts: number, urlId: number, isWithout: 0 | 1];
type Key = [bucket: number, ip: Uint8Array, ts: number, urlId: number];

// All of them are looked at: an index of those without a network would cost every import, and this is asked for once
// after a network table was renewed.
const RESOLUTIONS = `
  select bucket, ip, ts, url_id, asn is null from resolutions
  where (bucket, ip, ts, url_id) > (?, ?, ?, ?) order by bucket, ip, ts, url_id limit ${PAGE_ROWS}`;

const NO_ADDRESS = new Uint8Array(0);

/** Addresses without a network; each is told once per page and bucket of time. */
export function createNetworklessAddresses(db: Database) {
  const resolutions = db.prepare<Row>(RESOLUTIONS);

  return (signal: AbortSignal): AsyncIterable<Uint8Array[]> => {
    const bounds = { limit: Number.POSITIVE_INFINITY, signal };
    return readPages<Uint8Array, Key>([-1, NO_ADDRESS, -1, 0], bounds, (key) => {
      const rows = resolutions.all(...key);
      const { next } = pageOf(
        rows,
        ([, ip]) => ip,
        ([bucket, ip, ts, urlId]): Key => [bucket, ip, ts, urlId],
      );
      const without = rows.filter((row) => row[4] === 1).map(([, ip]) => ip);
      return {
        items: without.filter((ip, i) => i === 0 || Buffer.compare(ip, without[i - 1] ?? NO_ADDRESS) !== 0),
        next,
      };
    });
  };
}
