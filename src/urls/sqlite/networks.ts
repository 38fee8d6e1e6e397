import { PAGE_ROWS } from '../../database/pages.ts';
import type { Database } from '../../database/sqlite/database.ts';
import type { Dictionaries } from '../../database/sqlite/dictionaries.ts';
import { BUCKETS, createPagedNetworkless, type NetworklessRow } from '../resolution-rules.ts';
import type { AddressNetwork } from '../store.ts';

// Reads all resolutions: an index of those without a network would slow down every import, and this runs only after an
// update of the network table.
const RESOLUTIONS = `
  select bucket, ip, ts, url_id, asn is null from resolutions
  where (bucket, ip, ts, url_id) > (?, ?, ?, ?) order by bucket, ip, ts, url_id limit ${PAGE_ROWS}`;

/** Addresses without a network, page by page. */
export function createNetworklessAddresses(db: Database) {
  const resolutions = db.prepare<NetworklessRow>(RESOLUTIONS);
  return createPagedNetworkless((after) => resolutions.all(...after));
}

/** The maximum of resolutions changed, and of updates run, in one transaction: an address may have a hundred thousand. */
const CHUNK_ROWS = 5_000;

const SET = `
  update resolutions set asn = :asn where (url_id, ip, day) in (
    select r.url_id, r.ip, r.day from resolutions r
    where r.bucket = :bucket and r.ip = :ip and r.asn is null limit ${CHUNK_ROWS})`;

/** Sets the network of resolutions that have none; returns how many changed. */
export function createSetNetworks(db: Database, { transaction }: Pick<Dictionaries, 'transaction'>) {
  const readBuckets = db.prepare<[number]>(BUCKETS);
  const set = db.prepare(SET);

  return (networks: readonly AddressNetwork[]): number => {
    const buckets = readBuckets.all();
    const places = networks.flatMap(({ ip, asn }) => buckets.map(([bucket]) => ({ ip, asn, bucket })));
    let changed = 0;
    for (let at = 0; at < places.length; ) {
      changed += transaction(() => {
        let inChunk = 0;
        for (let updates = 0; updates < CHUNK_ROWS && inChunk < CHUNK_ROWS; updates++) {
          const place = places[at];
          if (place === undefined) break;
          const inPlace = set.run(place);
          inChunk += inPlace;
          if (inPlace < CHUNK_ROWS) at++;
        }
        return inChunk;
      });
    }
    return changed;
  };
}
