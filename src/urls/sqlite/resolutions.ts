import { dayOf } from '../../core/time.ts';
import type { Database } from '../../database/sqlite/database.ts';
import { hostAddress, mergeResolution } from '../resolution-rules.ts';
import { bucketOf } from '../store.ts';

const ADD = `
  insert into resolutions (url_id, ip, day, ts, bucket, asn) values (?, ?, ?, ?, ?, ?) on conflict do nothing`;

const FIND = 'select ts, asn from resolutions where url_id = ? and ip = ? and day = ?';

const UPDATE = 'update resolutions set ts = ?, asn = ? where url_id = ? and ip = ? and day = ?';

const NEWEST_NETWORK = 'select asn from resolutions where url_id = ? and ip = ? order by day desc limit 1';

type ResolutionColumns = [ts: number, asn: number | null];

/** Writes resolutions; each function returns how many rows changed. */
export function createApplyAddress(db: Database) {
  const add = db.prepare(ADD);
  const find = db.prepare<ResolutionColumns>(FIND);
  const update = db.prepare(UPDATE);
  const newestNetwork = db.prepare<[number | null]>(NEWEST_NETWORK);

  // A new URL has no resolution, except one of the same batch: the insert is the only statement. For a known URL most
  // imports repeat a stored resolution: the read is the only statement.
  function applyAddress(urlId: number, ts: number, ip: Uint8Array, asn: number | null, isNewUrl: boolean): number {
    const day = dayOf(ts);
    const stored = isNewUrl ? undefined : find.get(urlId, ip, day);
    if (stored === undefined && add.run(urlId, ip, day, ts, bucketOf(ts), asn) > 0) return 1;
    const [oldTs, oldAsn] = stored ?? (find.get(urlId, ip, day) as ResolutionColumns);
    const merged = mergeResolution({ ts: oldTs, asn: oldAsn }, { ts, asn });
    return merged.isChanged ? update.run(merged.ts, merged.asn, urlId, ip, day) : 0;
  }

  return {
    applyAddress,

    /** A URL whose host is an address gets a resolution for every event, also for an implied offline. */
    applyHostAddress(urlId: number, ts: number, url: string): number {
      const ip = hostAddress(url);
      return ip === null ? 0 : applyAddress(urlId, ts, ip, newestNetwork.get(urlId, ip)?.[0] ?? null, false);
    },
  };
}
