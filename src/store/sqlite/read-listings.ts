import { setImmediate } from 'node:timers/promises';
import { FIRST_OFFLINE_KIND } from '../entry-kind.ts';
import { PAGE_ROWS } from '../pages.ts';
import type { Listing, ListingEffect } from '../store.ts';
import type { Database } from './database.ts';

type Row = [urlId: number, isOnline: 0 | 1, isGoing: 0 | 1];

// A URL stays online when another feed lists it, or when it was seen after the time at which it would go.
const LISTED = `
  select l.url_id, coalesce(u.event_kind < ${FIRST_OFFLINE_KIND}, 0),
    coalesce(l.ts < :ts and u.event_kind < ${FIRST_OFFLINE_KIND}
      and not exists (
        select 1 from listed o where o.url_id = l.url_id and o.feed_id <> l.feed_id and o.missed_ts is null)
      and e.confirmed_ts <= max(:ts, coalesce((
        select max(o.missed_ts) from listed o where o.url_id = l.url_id and o.feed_id <> l.feed_id), 0)), 0)
  from listed l
  join urls u on u.id = l.url_id
  left join events e on e.url_id = u.id and e.ts = u.event_ts and e.kind = u.event_kind
  where l.feed_id = :feed and l.missed_ts is null and l.url_id > :after
  order by l.url_id limit ${PAGE_ROWS}`;

/** Counts what a listing would take offline, page by page: a feed may list millions. */
export function createListingEffect(db: Database) {
  const listed = db.prepare<Row>(LISTED);
  const feedId = db.prepare<[number]>('select id from reporters where name = ?');

  return async ({ feed, ts }: Listing): Promise<ListingEffect> => {
    const effect: ListingEffect = { online: 0, goingOffline: 0 };
    const id = feedId.get(feed)?.[0];
    for (let after: number | undefined = 0; id !== undefined && after !== undefined; ) {
      const rows: Row[] = listed.all({ feed: id, ts, after });
      for (const [, isOnline, isGoing] of rows) {
        effect.online += isOnline;
        effect.goingOffline += isGoing;
      }
      after = rows.length < PAGE_ROWS ? undefined : rows.at(-1)?.[0];
      await setImmediate();
    }
    return effect;
  };
}
