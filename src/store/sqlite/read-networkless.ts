import { createNetworkless, type NetworklessRow } from '../networkless.ts';
import { PAGE_ROWS } from '../pages.ts';
import type { Database } from './database.ts';

// All of them are looked at: an index of those without a network would cost every import, and this is asked for once
// after a network table was renewed.
const RESOLUTIONS = `
  select bucket, ip, ts, url_id, asn is null from resolutions
  where (bucket, ip, ts, url_id) > (?, ?, ?, ?) order by bucket, ip, ts, url_id limit ${PAGE_ROWS}`;

/** Addresses without a network, page by page. */
export function createNetworklessAddresses(db: Database) {
  const resolutions = db.prepare<NetworklessRow>(RESOLUTIONS);
  return createNetworkless((after) => resolutions.all(...after));
}
