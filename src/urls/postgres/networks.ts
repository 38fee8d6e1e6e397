import { createChangeRecorder } from '../../database/changes.ts';
import { PAGE_ROWS } from '../../database/pages.ts';
import { putChanges } from '../../database/postgres/changes.ts';
import type { Database, Query } from '../../database/postgres/database.ts';
import { columns } from '../../database/postgres/parameters.ts';
import { BUCKETS, createPagedNetworkless } from '../resolution-rules.ts';
import type { AddressNetwork } from '../store.ts';

// Reads all resolutions: an index of those without a network would slow down every import, and this runs only after an
// update of the network table.
const RESOLUTIONS = `
  select bucket, ip, ts, url_id, (asn is null)::integer from resolutions
  where (bucket, ip, ts, url_id) > ($1, $2, $3, $4) order by bucket, ip, ts, url_id limit ${PAGE_ROWS}`;

/** Addresses without a network, page by page. */
export function createNetworklessAddresses(query: Query) {
  return createPagedNetworkless((after, signal) => query(RESOLUTIONS, [...after], signal));
}

/** Resolutions changed in one transaction: an address may have a hundred thousand. */
const CHUNK_ROWS = 5_000;

const ADDRESSES_PER_STATEMENT = 500;

// The limit applies to all of the addresses together.
const SET = `
  update resolutions set asn = found.asn
  from (
    select r.url_id, r.ip, r.day, n.asn from unnest($1::bytea[], $2::bigint[]) as n (ip, asn)
    join resolutions r on r.bucket = $3 and r.ip = n.ip and r.asn is null limit ${CHUNK_ROWS}) found
  where resolutions.url_id = found.url_id and resolutions.ip = found.ip and resolutions.day = found.day
    and resolutions.asn is null`;

/** Sets the network of resolutions that have none; returns how many changed. */
export function createSetNetworks(db: Database) {
  return async (networks: readonly AddressNetwork[]): Promise<number> => {
    const buckets = await db.query<[number]>(BUCKETS);
    let changed = 0;
    for (let at = 0; at < networks.length; at += ADDRESSES_PER_STATEMENT) {
      const addresses = columns(2, networks.slice(at, at + ADDRESSES_PER_STATEMENT), ({ ip, asn }) => [ip, asn]);
      for (const [bucket] of buckets) {
        for (let inChunk = 1; inChunk > 0; ) {
          inChunk = await db.transaction(async (session) => {
            const set = await session.run(SET, [...addresses, bucket]);
            if (set > 0) await putChanges(session, createChangeRecorder());
            return set;
          });
          changed += inChunk;
        }
      }
    }
    return changed;
  };
}
