import { PAGE_ROWS } from '../../database/pages.ts';
import type { Database } from '../../database/postgres/database.ts';
import { columns } from '../../database/postgres/parameters.ts';
import type { Query } from '../../database/postgres/replicas.ts';
import { createNetworkless } from '../resolution-rules.ts';
import type { AddressNetwork } from '../store.ts';

// All of them are looked at: an index of those without a network would cost every import, and this is asked for once
// after a network table was renewed.
const RESOLUTIONS = `
  select bucket, ip, ts, url_id, (asn is null)::integer from resolutions
  where (bucket, ip, ts, url_id) > ($1, $2, $3, $4) order by bucket, ip, ts, url_id limit ${PAGE_ROWS}`;

/** Addresses without a network, page by page. */
export function createNetworklessAddresses(query: Query) {
  return createNetworkless((after, signal) => query(RESOLUTIONS, [...after], signal));
}

/** Resolutions changed in one transaction: an address may have a hundred thousand. */
const CHUNK = 5_000;

/** Addresses looked for in one statement. */
const ADDRESSES = 500;

const BUCKETS = `
  with recursive buckets (bucket) as (
    select min(bucket) from resolutions
    union all select (select min(r.bucket) from resolutions r where r.bucket > buckets.bucket) from buckets
    where bucket is not null)
  select bucket from buckets where bucket is not null`;

// The limit holds over all of the addresses.
const SET = `
  update resolutions set asn = found.asn
  from (
    select r.url_id, r.ip, r.day, n.asn from unnest($1::bytea[], $2::bigint[]) as n (ip, asn)
    join resolutions r on r.bucket = $3 and r.ip = n.ip and r.asn is null limit ${CHUNK}) found
  where resolutions.url_id = found.url_id and resolutions.ip = found.ip and resolutions.day = found.day
    and resolutions.asn is null`;

/** Gives addresses their network; returns how many resolutions had none. */
export function createSetNetworks(db: Database) {
  return async (networks: readonly AddressNetwork[]): Promise<number> => {
    const buckets = await db.query<[number]>(BUCKETS);
    let changed = 0;
    for (let at = 0; at < networks.length; at += ADDRESSES) {
      const addresses = columns(2, networks.slice(at, at + ADDRESSES), ({ ip, asn }) => [ip, asn]);
      for (const [bucket] of buckets) {
        for (let inChunk = 1; inChunk > 0; ) {
          inChunk = await db.transaction((session) => session.run(SET, [...addresses, bucket]));
          changed += inChunk;
        }
      }
    }
    return changed;
  };
}
