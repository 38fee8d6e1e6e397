import { normalizeUrl } from '../../core/url/normalize.ts';
import type { Database } from '../../database/sqlite/database.ts';
import { bucketOf, dayOf } from '../resolution-rules.ts';

// Once per URL, address and day, at the earliest ts; the network told with the earliest one counts.
const PUT = `
  insert into resolutions (url_id, ip, day, ts, bucket, asn) values (?, ?, ?, ?, ?, ?)
  on conflict do update set
    ts = min(ts, excluded.ts),
    asn = iif(excluded.ts < ts, coalesce(excluded.asn, asn), coalesce(asn, excluded.asn))
  where excluded.ts < ts or (asn is null and excluded.asn is not null)`;

const NEWEST_NETWORK = 'select asn from resolutions where url_id = ? and ip = ? order by day desc limit 1';

/** Writes resolutions; returns how many changed. */
export function createApplyAddress(db: Database) {
  const put = db.prepare(PUT);
  const newestNetwork = db.prepare<[number | null]>(NEWEST_NETWORK);

  function applyAddress(urlId: number, ts: number, ip: Uint8Array, asn: number | null): number {
    return put.run(urlId, ip, dayOf(ts), ts, bucketOf(ts), asn);
  }

  return {
    applyAddress,

    /** A URL whose host is an address has a resolution for every event, also for one that a listing implied. */
    applyHostAddress(urlId: number, ts: number, url: string): number {
      const parsed = normalizeUrl(url);
      if (!parsed.ok || parsed.ip === null) return 0;
      return applyAddress(urlId, ts, parsed.ip, newestNetwork.get(urlId, parsed.ip)?.[0] ?? null);
    },
  };
}
