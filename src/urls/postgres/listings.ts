import { createChangeRecorder } from '../../database/changes.ts';
import { PAGE_ROWS } from '../../database/pages.ts';
import { putChanges } from '../../database/postgres/changes.ts';
import type { Database, Query, Session } from '../../database/postgres/database.ts';
import { removalIds, reporterIds } from '../../database/postgres/dictionaries.ts';
import { createLock, inOrder, type Lock } from '../../database/postgres/lock-order.ts';
import { runRows } from '../../database/postgres/parameters.ts';
import { createPagedListingEffect, impliedChange, isNewlyListed, type ListedRow } from '../listing-rules.ts';
import type { Listing } from '../store.ts';
import { isOnline, kindCode, type TimelineChange } from '../stored-timeline.ts';
import type { ImpliedChange } from '../timeline.ts';
import { putStatuses, statusChanges } from './events.ts';
import { LOCK_URLS_BY_ID } from './locked-batch.ts';
import { impliedAddresses, readResolutions } from './resolutions.ts';

type ListedOfUrlRow = [urlId: number, nextTs: number | null, ...ListedRow];
type NewRow = { urlId: number; feedId: number; ts: number; missedTs: number | null };

/** The rows to write for some URLs, and how their implied offlines change. */
export type ListedChanges = {
  rows: NewRow[];
  implied: Map<number, ImpliedChange>;
  /** The ids in `reporters` of all feeds that have a row for one of the URLs. */
  feeds: Map<string, number>;
};

// With the first complete listing after the newest one that has the URL.
const LISTED_OF_URLS = `
  select l.url_id, (select min(s.ts) from listings s where s.feed_id = l.feed_id and s.ts > l.ts),
    l.feed_id, reporters.name, l.ts, l.missed_ts
  from listed l join reporters on reporters.id = l.feed_id
  where l.url_id = any($1::bigint[])`;

const FIRST_LISTING_AFTER = 'select min(ts) from listings where feed_id = $1 and ts > $2';

/** Marks URLs, whose rows are locked, as listed by the listing. */
export async function markListed(
  session: Session,
  urlIds: readonly number[],
  feedId: number,
  { feed, ts }: Listing,
): Promise<ListedChanges> {
  const [rows, first] = await Promise.all([
    session.query<ListedOfUrlRow>(LISTED_OF_URLS, [urlIds]),
    session.query<[number | null]>(FIRST_LISTING_AFTER, [feedId, ts]),
  ]);
  const missedTs = first[0]?.[0] ?? null;
  const ofUrl = Map.groupBy(rows, ([urlId]) => urlId);
  const changes = noChanges(rows);
  for (const urlId of urlIds) {
    const stored = (ofUrl.get(urlId) ?? []).map(toListed);
    if (isNewlyListed(stored, feedId, ts)) replaceRow(changes, urlId, stored, [feedId, feed, ts, missedTs]);
  }
  return changes;
}

/** Marks URLs, whose rows are locked, as missing from the feed's complete listing at `ts`, unless it has them by now. */
async function markMissing(
  session: Session,
  urlIds: readonly number[],
  feedId: number,
  ts: number,
): Promise<ListedChanges> {
  const rows = await session.query<ListedOfUrlRow>(LISTED_OF_URLS, [urlIds]);
  const changes = noChanges(rows);
  for (const [urlId, ofUrl] of Map.groupBy(rows, ([urlId]) => urlId)) {
    const own = ofUrl.find(([, , id]) => id === feedId);
    if (own === undefined || own[4] >= ts) continue;
    const [, nextTs, , feed, listedTs] = own;
    replaceRow(changes, urlId, ofUrl.map(toListed), [feedId, feed, listedTs, nextTs]);
  }
  return changes;
}

function noChanges(rows: readonly ListedOfUrlRow[]): ListedChanges {
  return { rows: [], implied: new Map(), feeds: new Map(rows.map(([, , id, feed]) => [feed, id])) };
}

const PUT_LISTED = `
  insert into listed (url_id, feed_id, ts, missed_ts)
  select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
  on conflict (url_id, feed_id) do update set ts = excluded.ts, missed_ts = excluded.missed_ts`;

export function putListed(session: Session, rows: readonly NewRow[]): Promise<number> {
  return runRows(session, PUT_LISTED, rows, ({ urlId, feedId, ts, missedTs }) => [urlId, feedId, ts, missedTs]);
}

function replaceRow(changes: ListedChanges, urlId: number, stored: readonly ListedRow[], row: ListedRow): void {
  const [feedId, , ts, missedTs] = row;
  const change = impliedChange(stored, row);
  changes.rows.push({ urlId, feedId, ts, missedTs });
  if (change !== null) changes.implied.set(urlId, change);
}

function toListed([, , ...row]: ListedOfUrlRow): ListedRow {
  return row;
}

// Exclusive: meanwhile no URL of the feed is marked as listed, and no other listing of the feed is finished.
const LOCK_FEED_EXCLUSIVE = 'select id from reporters where id = $1 for update';

const ADD_LISTING = 'insert into listings (feed_id, ts, is_pending) values ($1, $2, 1) on conflict do nothing';

// With the next complete listing, or null.
const OLDEST_PENDING = `
  select ts, (select min(next.ts) from listings next where next.feed_id = l.feed_id and next.ts > l.ts) from listings l
  where feed_id = $1 and is_pending = 1 order by ts limit 1`;

type Pending = [ts: number, nextTs: number | null];
type FinishedChunk = { lastId: number | null; wentOffline: number };

/**
 * Stores what a complete listing implies, one transaction per chunk. If the process ends before the last one, the listing
 * stays pending, and the next call for the feed continues.
 */
export function createFinishListing(db: Database) {
  return async ({ feed, ts }: Listing): Promise<{ wentOffline: number }> => {
    const feedId = await db.transaction(async (session) => {
      const lock = createLock();
      const { reporters } = await lock({ reporters: () => reporterIds(session, new Set([feed])) });
      const id = reporters.get(feed) as number;
      await inOrder([
        () => lock({ feed: () => session.query(LOCK_FEED_EXCLUSIVE, [id]) }),
        () => session.run(ADD_LISTING, [id, ts]),
      ]);
      return id;
    });
    let wentOffline = 0;
    for (;;) {
      const [pending] = await db.query<Pending>(OLDEST_PENDING, [feedId]);
      if (pending === undefined) return { wentOffline };
      for (let after: number | null = 0; after !== null; ) {
        const from: number = after;
        const chunk: FinishedChunk = await db.transaction((session) => finishChunk(session, feedId, pending, from));
        wentOffline += chunk.wentOffline;
        after = chunk.lastId;
      }
    }
  };
}

/** Listed URLs read in one transaction. */
const CHUNK_ROWS = 2_000;

// URLs that may be missing from the listing: listed until now, or missing from the next listing. Two statements, because
// `is not distinct from` uses no index.
const LISTED_SO_FAR = `
  select url_id, ts from listed
  where feed_id = $1 and missed_ts is null and url_id > $2 order by url_id limit ${CHUNK_ROWS}`;
const MISSING_FROM_NEXT = `
  select url_id, ts from listed
  where feed_id = $1 and missed_ts = $3 and url_id > $2 order by url_id limit ${CHUNK_ROWS}`;

const LISTING_DONE = 'update listings set is_pending = 0 where feed_id = $1 and ts = $2';

async function finishChunk(
  session: Session,
  feedId: number,
  [ts, nextTs]: Pending,
  afterId: number,
): Promise<FinishedChunk> {
  const lock = createLock();
  const [, candidates] = await inOrder([
    () => lock({ feed: () => session.query(LOCK_FEED_EXCLUSIVE, [feedId]) }),
    () =>
      nextTs === null
        ? session.query<[urlId: number, listedTs: number]>(LISTED_SO_FAR, [feedId, afterId])
        : session.query<[urlId: number, listedTs: number]>(MISSING_FROM_NEXT, [feedId, afterId, nextTs]),
  ]);
  const missing = candidates.filter(([, listedTs]) => listedTs < ts).map(([urlId]) => urlId);
  const wentOffline = missing.length === 0 ? 0 : await takeOffline(session, lock, feedId, ts, missing);
  const lastId = candidates.length < CHUNK_ROWS ? null : (candidates.at(-1)?.[0] ?? null);
  if (lastId === null) await session.run(LISTING_DONE, [feedId, ts]);
  return { lastId, wentOffline };
}

const READ_LISTED_URLS = 'select id, event_kind, host_id, url from urls where id = any($1::bigint[])';

type UrlRow = [id: number, kind: number | null, hostId: number, url: string];

/** Stores that a listing does not have the URLs; returns how many went offline. */
async function takeOffline(
  session: Session,
  lock: Lock,
  feedId: number,
  ts: number,
  urlIds: readonly number[],
): Promise<number> {
  const [{ removals }, rows, listed] = await inOrder([
    () =>
      lock({
        removals: () => removalIds(session, new Set([''])),
        urls: () => session.query(LOCK_URLS_BY_ID, [urlIds]),
      }),
    () => session.query<UrlRow>(READ_LISTED_URLS, [urlIds]),
    () => markMissing(session, urlIds, feedId, ts),
  ]);
  const updates = rows.map(([id, kind, hostId, url]) => {
    return { id, kind, hostId, url, isNew: false, statuses: [], implied: listed.implied.get(id) ?? null };
  });
  const hostAddresses = updates.flatMap((update) => impliedAddresses(update, update.url));
  const texts = { reporters: listed.feeds, removals: new Map(removals) };
  const [changes, resolutions] = await Promise.all([
    statusChanges(session, updates, texts),
    readResolutions(session, [], hostAddresses),
  ]);
  resolutions.applyHosts(hostAddresses);
  const recorder = createChangeRecorder();
  for (const [urlId, change] of changes) if (change.isLastChanged) recorder.url(urlId, 'update');
  await Promise.all([
    putChanges(session, recorder),
    putStatuses(session, updates, changes, texts),
    resolutions.write(),
    putListed(session, listed.rows),
  ]);
  return updates.filter(({ id, kind }) => isOnline(kind) && !isOnline(kindAfter(kind, changes.get(id)))).length;
}

function kindAfter(kind: number | null, change: TimelineChange | undefined): number | null {
  if (change?.last === undefined) return kind;
  return change.last === null ? null : kindCode(change.last);
}

const FEED_ID = 'select id from reporters where text_key(name) = text_key($1)';

const LISTED_URLS = `
  select l.url_id, u.event_kind, l.ts,
    exists (select 1 from listed o where o.url_id = l.url_id and o.feed_id <> l.feed_id and o.missed_ts is null)::integer,
    (select max(o.missed_ts) from listed o where o.url_id = l.url_id and o.feed_id <> l.feed_id), e.confirmed_ts
  from (
    select * from listed where feed_id = $1 and missed_ts is null and url_id > $2 order by url_id limit ${PAGE_ROWS}) l
  join urls u on u.id = l.url_id
  left join events e on e.url_id = u.id and e.ts = u.event_ts and e.kind = u.event_kind
  order by l.url_id`;

/** Counts the URLs that a listing would take offline. */
export function createListingEffect(query: Query) {
  return createPagedListingEffect({
    feedId: async (feed) => (await query<[number]>(FEED_ID, [feed]))[0]?.[0],
    listedUrls: (feedId, afterId) => query(LISTED_URLS, [feedId, afterId]),
  });
}
