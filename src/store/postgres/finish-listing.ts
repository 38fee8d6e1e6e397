import { FIRST_OFFLINE_KIND } from '../entry-kind.ts';
import type { Listing } from '../store.ts';
import { kindCode, type TimelineChange } from '../timeline-change.ts';
import { impliedAddresses } from './apply.ts';
import { readResolutions } from './apply-address.ts';
import { putStatuses, statusChanges } from './apply-status.ts';
import type { Database, Session } from './database.ts';
import { removalIds, reporterIds } from './dictionary.ts';
import { missUrls, putListed } from './listed.ts';

/** URLs looked at in one transaction. */
const CHUNK = 2_000;

// Alone: no URL is named meanwhile, and no other listing of the feed finished.
const LOCK_FEED = 'select id from reporters where id = $1 for update';

const ADD = 'insert into listings (feed_id, ts, is_pending) values ($1, $2, 1) on conflict do nothing';

// With the complete listing that follows it, or null.
const OLDEST_PENDING = `
  select ts, (select min(next.ts) from listings next where next.feed_id = l.feed_id and next.ts > l.ts) from listings l
  where feed_id = $1 and is_pending = 1 order by ts limit 1`;

// So far they are listed, or it was the next listing that missed them. Two statements, because `is not distinct from`
// reads no index.
const LISTED_SO_FAR = `
  select url_id, ts from listed
  where feed_id = $1 and missed_ts is null and url_id > $2 order by url_id limit ${CHUNK}`;
const MISSED_BY_NEXT = `
  select url_id, ts from listed
  where feed_id = $1 and missed_ts = $3 and url_id > $2 order by url_id limit ${CHUNK}`;

const DONE = 'update listings set is_pending = 0 where feed_id = $1 and ts = $2';

const LOCK_URLS = `
  select count(*) from (select 1 from urls where id = any($1::bigint[]) order by url_key for update) l`;

const READ_URLS = 'select id, event_kind, host_id, url from urls where id = any($1::bigint[])';

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
      const id = (await reporterIds(session, new Set([feed]))).get(feed) as number;
      await Promise.all([session.query(LOCK_FEED, [id]), session.run(ADD, [id, ts])]);
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
  const [, candidates] = await Promise.all([
    session.query(LOCK_FEED, [feedId]),
    nextTs === null
      ? session.query<[urlId: number, namedTs: number]>(LISTED_SO_FAR, [feedId, afterId])
      : session.query<[urlId: number, namedTs: number]>(MISSED_BY_NEXT, [feedId, afterId, nextTs]),
  ]);
  const missed = candidates.filter(([, namedTs]) => namedTs < ts).map(([urlId]) => urlId);
  const wentOffline = missed.length === 0 ? 0 : await miss(session, feedId, ts, missed);
  const lastId = candidates.length < CHUNK ? null : (candidates.at(-1)?.[0] ?? null);
  if (lastId === null) await session.run(DONE, [feedId, ts]);
  return { lastId, wentOffline };
}

/** How many of the URLs were online until now. */
async function miss(session: Session, feedId: number, ts: number, urlIds: readonly number[]): Promise<number> {
  const [removals, , rows, listed] = await Promise.all([
    removalIds(session, new Set([''])),
    session.query(LOCK_URLS, [urlIds]),
    session.query<UrlRow>(READ_URLS, [urlIds]),
    missUrls(session, urlIds, feedId, ts),
  ]);
  const urls = rows.map(([id, kind, hostId, url]) => ({ id, kind, hostId, url }));
  const updates = urls.map(({ id, hostId }) => {
    return { urlId: id, hostId, statuses: [], implied: listed.changes.get(id) ?? null };
  });
  const hosts = urls.flatMap((url) => impliedAddresses(url, listed.changes.get(url.id)));
  const feeds = [...listed.changes.values()].map(({ after }) => after?.reporter);
  const [reporters, resolutions] = await Promise.all([
    reporterIds(session, new Set(feeds.filter((name) => name !== undefined))),
    readResolutions(session, [], hosts),
  ]);
  const texts = { reporters: new Map(reporters), removals: new Map(removals) };
  const changes = await statusChanges(session, updates, texts);
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

function isOnline(kind: number | null): boolean {
  return kind !== null && kind < FIRST_OFFLINE_KIND;
}
