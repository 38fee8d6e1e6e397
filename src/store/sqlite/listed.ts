import { type ImpliedChange, impliedChange, type ListedRow } from '../implied.ts';
import type { Listing } from '../store.ts';
import type { Database } from './database.ts';

const OF_URL = `
  select l.feed_id, reporters.name, l.ts, l.missed_ts from listed l join reporters on reporters.id = l.feed_id
  where l.url_id = ?`;

const PUT = `
  insert into listed (url_id, feed_id, ts, missed_ts) values (?, ?, ?, ?)
  on conflict do update set ts = excluded.ts, missed_ts = excluded.missed_ts`;

const FIRST_AFTER = 'select min(ts) from listings where feed_id = ? and ts > ?';

/** Keeps which feed lists a URL, or since when not. */
export function createListed(db: Database) {
  const ofUrl = db.prepare<ListedRow>(OF_URL);
  const put = db.prepare(PUT);
  const firstAfter = db.prepare<[number | null]>(FIRST_AFTER);

  /** Writes down which listing of the feed misses the URL, when the newest that named it is that of `ts`. */
  function putRow(
    urlId: number,
    rows: readonly ListedRow[],
    feedId: number,
    { feed, ts }: Listing,
  ): ImpliedChange | null {
    const missedTs = firstAfter.get(feedId, ts)?.[0] ?? null;
    put.run(urlId, feedId, ts, missedTs);
    return impliedChange(rows, [feedId, feed, ts, missedTs]);
  }

  return {
    /** A listing of the feed named the URL; an older one than known says nothing new. */
    name(urlId: number, feedId: number, listing: Listing): ImpliedChange | null {
      const rows = ofUrl.all(urlId);
      const old = rows.find(([id]) => id === feedId);
      return old !== undefined && old[2] >= listing.ts ? null : putRow(urlId, rows, feedId, listing);
    },

    /** A listing of the feed was finished that may miss the URL. */
    miss(urlId: number, feedId: number): ImpliedChange | null {
      const rows = ofUrl.all(urlId);
      const [, feed, ts] = rows.find(([id]) => id === feedId) as ListedRow;
      return putRow(urlId, rows, feedId, { feed, ts });
    },
  };
}
