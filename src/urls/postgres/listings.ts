import { PAGE_ROWS } from '../../database/pages.ts';
import type { Database, Session } from '../../database/postgres/database.ts';
import { columns } from '../../database/postgres/parameters.ts';
import type { Query } from '../../database/postgres/replicas.ts';
import { createPagedListingEffect, type ImpliedChange, impliedChange, type ListedRow } from '../listing-rules.ts';
import type { Listing } from '../store.ts';
import { isOnline, kindCode, type TimelineChange } from '../stored-timeline.ts';
import { removalIds, reporterIds } from './dictionaries.ts';
import { putStatuses, statusChanges } from './events.ts';
import { createLock, inOrder, type Lock } from './lock-order.ts';
import { impliedAddresses, readResolutions } from './resolutions.ts';

type ListedOfUrlRow = [urlId: number, nextTs: number | null, ...ListedRow];
type NewRow = { urlId: number; feedId: number; ts: number; missedTs: number | null };

/** What becomes of the rows of some URLs, and of their implied offlines. */
export type Listed = {
  rows: NewRow[];
  changes: Map<number, ImpliedChange>;
  /** The ids in `reporters` of all feeds that list one of the URLs, or did. */
  feeds: Map<string, number>;
};

// With the first complete listing behind the one that named the URL.
const LISTED_OF_URLS = `
  select l.url_id, (select min(s.ts) from listings s where s.feed_id = l.feed_id and s.ts > l.ts),
    l.feed_id, reporters.name, l.ts, l.missed_ts
  from listed l join reporters on reporters.id = l.feed_id
  where l.url_id = any($1::bigint[])`;

const FIRST_AFTER = 'select min(ts) from listings where feed_id = $1 and ts > $2';

const PUT_LISTED = `
  insert into listed (url_id, feed_id, ts, missed_ts)
  select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
  on conflict (url_id, feed_id) do update set ts = excluded.ts, missed_ts = excluded.missed_ts`;

/** A listing of the feed named the URLs, whose rows are locked; an older one than known says nothing new. */
export async function nameUrls(
  session: Session,
  urlIds: readonly number[],
  feedId: number,
  { feed, ts }: Listing,
): Promise<Listed> {
  const [rows, first] = await Promise.all([
    session.query<ListedOfUrlRow>(LISTED_OF_URLS, [urlIds]),
    session.query<[number | null]>(FIRST_AFTER, [feedId, ts]),
  ]);
  const missedTs = first[0]?.[0] ?? null;
  const ofUrl = Map.groupBy(rows, ([urlId]) => urlId);
  const listed: Listed = { rows: [], changes: new Map(), feeds: new Map(rows.map(([, , id, feed]) => [feed, id])) };
  for (const urlId of urlIds) {
    const known = (ofUrl.get(urlId) ?? []).map(toListed);
    const old = known.find(([id]) => id === feedId);
    if (old === undefined || old[2] < ts) replace(listed, urlId, known, [feedId, feed, ts, missedTs]);
  }
  return listed;
}

/** A listing of the feed, the one of `ts`, was finished that may miss the URLs, whose rows are locked. */
export async function missUrls(
  session: Session,
  urlIds: readonly number[],
  feedId: number,
  ts: number,
): Promise<Listed> {
  const rows = await session.query<ListedOfUrlRow>(LISTED_OF_URLS, [urlIds]);
  const listed: Listed = { rows: [], changes: new Map(), feeds: new Map(rows.map(([, , id, feed]) => [feed, id])) };
  for (const [urlId, ofUrl] of Map.groupBy(rows, ([urlId]) => urlId)) {
    const own = ofUrl.find(([, , id]) => id === feedId);
    if (own === undefined || own[4] >= ts) continue;
    const [, nextTs, , feed, namedTs] = own;
    replace(listed, urlId, ofUrl.map(toListed), [feedId, feed, namedTs, nextTs]);
  }
  return listed;
}

export async function putListed(session: Session, rows: readonly NewRow[]): Promise<void> {
  if (rows.length === 0) return;
  await session.run(
    PUT_LISTED,
    columns(4, rows, ({ urlId, feedId, ts, missedTs }) => [urlId, feedId, ts, missedTs]),
  );
}

function replace(listed: Listed, urlId: number, known: readonly ListedRow[], row: ListedRow): void {
  const [feedId, , ts, missedTs] = row;
  const change = impliedChange(known, row);
  listed.rows.push({ urlId, feedId, ts, missedTs });
  if (change !== null) listed.changes.set(urlId, change);
}

function toListed([, , ...row]: ListedOfUrlRow): ListedRow {
  return row;
}

/** URLs looked at in one transaction. */
const FINISH_CHUNK = 2_000;

// Alone: no URL is named meanwhile, and no other listing of the feed finished.
const LOCK_FEED = 'select id from reporters where id = $1 for update';

const ADD_LISTING = 'insert into listings (feed_id, ts, is_pending) values ($1, $2, 1) on conflict do nothing';

// With the complete listing that follows it, or null.
const OLDEST_PENDING = `
  select ts, (select min(next.ts) from listings next where next.feed_id = l.feed_id and next.ts > l.ts) from listings l
  where feed_id = $1 and is_pending = 1 order by ts limit 1`;

// So far they are listed, or it was the next listing that missed them. Two statements, because `is not distinct from`
// reads no index.
const LISTED_SO_FAR = `
  select url_id, ts from listed
  where feed_id = $1 and missed_ts is null and url_id > $2 order by url_id limit ${FINISH_CHUNK}`;
const MISSED_BY_NEXT = `
  select url_id, ts from listed
  where feed_id = $1 and missed_ts = $3 and url_id > $2 order by url_id limit ${FINISH_CHUNK}`;

const LISTING_DONE = 'update listings set is_pending = 0 where feed_id = $1 and ts = $2';

const LOCK_LISTED_URLS = `
  select count(*) from (select 1 from urls where id = any($1::bigint[]) order by url_key for update) l`;

const READ_LISTED_URLS = 'select id, event_kind, host_id, url from urls where id = any($1::bigint[])';

type Pending = [ts: number, nextTs: number | null];
type UrlRow = [id: number, kind: number | null, hostId: number, url: string];
type Chunk = { lastId: number | null; wentOffline: number };

/**
 * Writes down what a complete listing implies, chunk by chunk. A process that ends half way leaves the listing pending,
 * and whoever finishes one of the feed goes on.
 */
export function createFinishListing(db: Database) {
  return async ({ feed, ts }: Listing): Promise<{ wentOffline: number }> => {
    const feedId = await db.transaction(async (session) => {
      const lock = createLock();
      const { reporters } = await lock({ reporters: () => reporterIds(session, new Set([feed])) });
      const id = reporters.get(feed) as number;
      await inOrder([
        () => lock({ feed: () => session.query(LOCK_FEED, [id]) }),
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
        const chunk: Chunk = await db.transaction((session) => finishChunk(session, feedId, pending, from));
        wentOffline += chunk.wentOffline;
        after = chunk.lastId;
      }
    }
  };
}

async function finishChunk(session: Session, feedId: number, [ts, nextTs]: Pending, afterId: number): Promise<Chunk> {
  const lock = createLock();
  const [, candidates] = await inOrder([
    () => lock({ feed: () => session.query(LOCK_FEED, [feedId]) }),
    () =>
      nextTs === null
        ? session.query<[urlId: number, namedTs: number]>(LISTED_SO_FAR, [feedId, afterId])
        : session.query<[urlId: number, namedTs: number]>(MISSED_BY_NEXT, [feedId, afterId, nextTs]),
  ]);
  const missed = candidates.filter(([, namedTs]) => namedTs < ts).map(([urlId]) => urlId);
  const wentOffline = missed.length === 0 ? 0 : await miss(session, lock, feedId, ts, missed);
  const lastId = candidates.length < FINISH_CHUNK ? null : (candidates.at(-1)?.[0] ?? null);
  if (lastId === null) await session.run(LISTING_DONE, [feedId, ts]);
  return { lastId, wentOffline };
}

/** How many of the URLs were online until now. */
async function miss(
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
        urls: () => session.query(LOCK_LISTED_URLS, [urlIds]),
      }),
    () => session.query<UrlRow>(READ_LISTED_URLS, [urlIds]),
    () => missUrls(session, urlIds, feedId, ts),
  ]);
  const urls = rows.map(([id, kind, hostId, url]) => ({ id, kind, hostId, url }));
  const updates = urls.map(({ id, hostId }) => {
    return { urlId: id, hostId, statuses: [], implied: listed.changes.get(id) ?? null };
  });
  const hosts = urls.flatMap((url) => impliedAddresses(url, listed.changes.get(url.id)));
  const texts = { reporters: listed.feeds, removals: new Map(removals) };
  const [changes, resolutions] = await Promise.all([
    statusChanges(session, updates, texts),
    readResolutions(session, [], hosts),
  ]);
  for (const address of hosts) resolutions.applyHost(address);
  await Promise.all([
    putStatuses(session, updates, changes, texts),
    resolutions.write(),
    putListed(session, listed.rows),
  ]);
  return urls.filter(({ id, kind }) => isOnline(kind) && !isOnline(kindAfter(kind, changes.get(id)))).length;
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

/** What a listing would take offline. */
export function createListingEffect(query: Query) {
  return createPagedListingEffect({
    feedId: async (feed) => (await query<[number]>(FEED_ID, [feed]))[0]?.[0],
    listedUrls: (feedId, afterId) => query(LISTED_URLS, [feedId, afterId]),
  });
}
