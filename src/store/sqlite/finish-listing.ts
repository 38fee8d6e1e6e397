import { FIRST_OFFLINE_KIND } from '../entry-kind.ts';
import type { Listing } from '../store.ts';
import { createApplyAddress } from './apply-address.ts';
import { createApplyStatus } from './apply-status.ts';
import type { Database } from './database.ts';
import type { Dictionaries } from './dictionaries.ts';
import { createListed } from './listed.ts';

/** URLs looked at in one transaction. 100,000 that all went offline took 4.9 to 6.4 s: 100 to 130 ms each. */
const CHUNK = 2_000;

const ADD = 'insert or ignore into listings (feed_id, ts, is_pending) values (?, ?, 1)';

// With the complete listing that follows it, or null.
const OLDEST_PENDING = `
  select ts, (select min(next.ts) from listings next where next.feed_id = l.feed_id and next.ts > l.ts) from listings l
  where feed_id = ? and is_pending = 1 order by ts limit 1`;

// So far they are listed, or it was the next listing that missed them.
const CANDIDATES = `
  select url_id, ts from listed
  where feed_id = ? and missed_ts is ? and url_id > ? order by url_id limit ${CHUNK}`;

const DONE = 'update listings set is_pending = 0 where feed_id = ? and ts = ?';

const URL = 'select event_kind, host_id, url from urls where id = ?';

type Pending = [ts: number, nextTs: number | null];
type FinishReport = { wentOffline: number };
type UrlRow = [kind: number | null, hostId: number, url: string];

/**
 * Writes down what a complete listing implies, chunk by chunk. A process that ends half way leaves the listing pending,
 * and whoever finishes one of the feed goes on.
 */
export function createFinishListing(db: Database, dictionaries: Dictionaries) {
  const { reporters, transaction } = dictionaries;
  const applyStatus = createApplyStatus(db, dictionaries);
  const { applyHostAddress } = createApplyAddress(db);
  const listed = createListed(db);
  const add = db.prepare(ADD);
  const oldestPending = db.prepare<Pending>(OLDEST_PENDING);
  const candidates = db.prepare<[urlId: number, namedTs: number]>(CANDIDATES);
  const done = db.prepare(DONE);
  const findUrl = db.prepare<UrlRow>(URL);

  /** Whether the URL was online until now. */
  function miss(urlId: number, feedId: number): boolean {
    const [before, hostId, url] = findUrl.get(urlId) as UrlRow;
    const change = listed.miss(urlId, feedId);
    if (change === null) return false;
    applyStatus(urlId, hostId, [], change);
    if (change.after !== null) applyHostAddress(urlId, change.after.ts, url);
    return isOnline(before) && !isOnline(findUrl.get(urlId)?.[0]);
  }

  /** The id from which the next chunk goes on; null when there is none. */
  function finishChunk(feedId: number, [ts, nextTs]: Pending, afterId: number, report: FinishReport): number | null {
    const rows = candidates.all(feedId, nextTs, afterId);
    for (const [urlId, namedTs] of rows) if (namedTs < ts && miss(urlId, feedId)) report.wentOffline++;
    const lastId = rows.length < CHUNK ? undefined : rows.at(-1)?.[0];
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

function isOnline(kind: number | null | undefined): boolean {
  return kind !== null && kind !== undefined && kind < FIRST_OFFLINE_KIND;
}
