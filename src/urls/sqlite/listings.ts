import { PAGE_ROWS } from '../../database/pages.ts';
import type { Database } from '../../database/sqlite/database.ts';
import type { Dictionaries } from '../../database/sqlite/dictionaries.ts';
import {
  createPagedListingEffect,
  impliedChange,
  isNewlyListed,
  type ListedRow,
  type ListedUrlRow,
} from '../listing-rules.ts';
import type { Listing } from '../store.ts';
import { isOnline } from '../stored-timeline.ts';
import type { ImpliedChange } from '../timeline.ts';
import { createApplyStatus } from './events.ts';
import { createApplyAddress } from './resolutions.ts';

const LISTED_OF_URL = `
  select l.feed_id, reporters.name, l.ts, l.missed_ts from listed l join reporters on reporters.id = l.feed_id
  where l.url_id = ?`;

const PUT_LISTED = `
  insert into listed (url_id, feed_id, ts, missed_ts) values (?, ?, ?, ?)
  on conflict do update set ts = excluded.ts, missed_ts = excluded.missed_ts`;

const FIRST_LISTING_AFTER = 'select min(ts) from listings where feed_id = ? and ts > ?';

/** Stores which feeds list a URL, and from which listing on a feed does not. */
export function createListed(db: Database) {
  const ofUrl = db.prepare<ListedRow>(LISTED_OF_URL);
  const put = db.prepare(PUT_LISTED);
  const firstListingAfter = db.prepare<[number | null]>(FIRST_LISTING_AFTER);

  /** `listedTs`: the newest listing of the feed that has the URL. */
  function putRow(
    urlId: number,
    rows: readonly ListedRow[],
    [feedId, feed, listedTs]: [feedId: number, feed: string, listedTs: number],
  ): ImpliedChange | null {
    const missedTs = firstListingAfter.get(feedId, listedTs)?.[0] ?? null;
    put.run(urlId, feedId, listedTs, missedTs);
    return impliedChange(rows, [feedId, feed, listedTs, missedTs]);
  }

  return {
    /** The listing has the URL. */
    markListed(urlId: number, feedId: number, { feed, ts }: Listing): ImpliedChange | null {
      const rows = ofUrl.all(urlId);
      return isNewlyListed(rows, feedId, ts) ? putRow(urlId, rows, [feedId, feed, ts]) : null;
    },

    /** A complete listing of the feed does not have the URL. */
    markMissing(urlId: number, feedId: number): ImpliedChange | null {
      const rows = ofUrl.all(urlId);
      const [, feed, listedTs] = rows.find(([id]) => id === feedId) as ListedRow;
      return putRow(urlId, rows, [feedId, feed, listedTs]);
    },
  };
}

/** Listed URLs read in one transaction. 100,000 URLs that all went offline took 4.9 to 6.4 s: 100 to 130 ms a chunk. */
const CHUNK_ROWS = 2_000;

const ADD_LISTING = 'insert or ignore into listings (feed_id, ts, is_pending) values (?, ?, 1)';

// With the next complete listing, or null.
const OLDEST_PENDING = `
  select ts, (select min(next.ts) from listings next where next.feed_id = l.feed_id and next.ts > l.ts) from listings l
  where feed_id = ? and is_pending = 1 order by ts limit 1`;

// URLs that may be missing from the listing: listed until now, or missing from the next listing.
const CANDIDATES = `
  select url_id, ts from listed
  where feed_id = ? and missed_ts is ? and url_id > ? order by url_id limit ${CHUNK_ROWS}`;

const LISTING_DONE = 'update listings set is_pending = 0 where feed_id = ? and ts = ?';

const LISTED_URL = 'select event_kind, host_id, url from urls where id = ?';

type Pending = [ts: number, nextTs: number | null];
type FinishReport = { wentOffline: number };
type UrlRow = [kind: number | null, hostId: number, url: string];

/**
 * Stores what a complete listing implies, one transaction per chunk. If the process ends before the last one, the listing
 * stays pending, and the next call for the feed continues.
 */
export function createFinishListing(db: Database, dictionaries: Dictionaries) {
  const { reporters, changes, transaction } = dictionaries;
  const applyStatus = createApplyStatus(db, dictionaries);
  const { applyHostAddress } = createApplyAddress(db);
  const listed = createListed(db);
  const add = db.prepare(ADD_LISTING);
  const oldestPending = db.prepare<Pending>(OLDEST_PENDING);
  const candidates = db.prepare<[urlId: number, listedTs: number]>(CANDIDATES);
  const done = db.prepare(LISTING_DONE);
  const findUrl = db.prepare<UrlRow>(LISTED_URL);

  /** Stores that a listing does not have the URL; returns whether the URL went offline. */
  function takeOffline(urlId: number, feedId: number): boolean {
    const [before, hostId, url] = findUrl.one(urlId);
    const change = listed.markMissing(urlId, feedId);
    if (change === null) return false;
    if (applyStatus(urlId, hostId, [], change).isLastChanged) changes.url(urlId, 'update');
    if (change.after !== null) applyHostAddress(urlId, change.after.ts, url);
    return isOnline(before) && !isOnline(findUrl.one(urlId)[0]);
  }

  /** Returns the last id of the chunk; null when the listing is finished. */
  function finishChunk(feedId: number, [ts, nextTs]: Pending, afterId: number, report: FinishReport): number | null {
    const rows = candidates.all(feedId, nextTs, afterId);
    for (const [urlId, listedTs] of rows) if (listedTs < ts && takeOffline(urlId, feedId)) report.wentOffline++;
    const lastId = rows.length < CHUNK_ROWS ? undefined : rows.at(-1)?.[0];
    if (lastId === undefined) done.run(feedId, ts);
    return lastId ?? null;
  }

  return ({ feed, ts }: Listing): FinishReport => {
    const feedId = transaction(() => {
      const id = reporters.idOf(feed);
      add.run(id, ts);
      return id;
    });
    const report: FinishReport = { wentOffline: 0 };
    for (let next = oldestPending.get(feedId); next !== undefined; next = oldestPending.get(feedId)) {
      const pending = next;
      for (let after: number | null = 0; after !== null; ) {
        const from: number = after;
        after = transaction(() => finishChunk(feedId, pending, from, report));
      }
    }
    return report;
  };
}

const FEED_ID = 'select id from reporters where name = ?';

const LISTED_URLS = `
  select l.url_id, u.event_kind, l.ts,
    exists (select 1 from listed o where o.url_id = l.url_id and o.feed_id <> l.feed_id and o.missed_ts is null),
    (select max(o.missed_ts) from listed o where o.url_id = l.url_id and o.feed_id <> l.feed_id), e.confirmed_ts
  from listed l
  join urls u on u.id = l.url_id
  left join events e on e.url_id = u.id and e.ts = u.event_ts and e.kind = u.event_kind
  where l.feed_id = ? and l.missed_ts is null and l.url_id > ?
  order by l.url_id limit ${PAGE_ROWS}`;

/** Counts the URLs that a listing would take offline. */
export function createListingEffect(db: Database) {
  const feedId = db.prepare<[number]>(FEED_ID);
  const listedUrls = db.prepare<ListedUrlRow>(LISTED_URLS);
  return createPagedListingEffect({
    feedId: (feed) => feedId.get(feed)?.[0],
    listedUrls: (id, afterId) => listedUrls.all(id, afterId),
  });
}
