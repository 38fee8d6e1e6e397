import { createNetworkless } from '../networkless.ts';
import { PAGE_ROWS } from '../pages.ts';
import type { Query } from './replicas.ts';

// All of them are looked at: an index of those without a network would cost every import, and this is asked for once
// after a network table was renewed.
const RESOLUTIONS = `
  select bucket, ip, ts, url_id, (asn is null)::integer from resolutions
  where (bucket, ip, ts, url_id) > ($1, $2, $3, $4) order by bucket, ip, ts, url_id limit ${PAGE_ROWS}`;

/** Addresses without a network, page by page. */
export function createNetworklessAddresses(query: Query) {
  return createNetworkless((after, signal) => query(RESOLUTIONS, [...after], signal));
}
