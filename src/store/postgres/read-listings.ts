import { FIRST_OFFLINE_KIND } from '../entry-kind.ts';
import type { Listing, ListingEffect } from '../store.ts';
import type { Query } from './replicas.ts';

/** URLs counted by one statement: some tens of milliseconds. */
const CHUNK = 5_000;

// A URL stays online when another feed lists it, or when it was seen after the time at which it would go.
const LISTED = `
  select count(*), max(url_id), count(*) filter (where is_online), count(*) filter (where is_online and is_going)
  from (
    select l.url_id, u.event_kind < ${FIRST_OFFLINE_KIND} as is_online,
      l.ts < $2 and not exists (
        select 1 from listed o where o.url_id = l.url_id and o.feed_id <> l.feed_id and o.missed_ts is null)
      and e.confirmed_ts <= greatest($2, (
        select max(o.missed_ts) from listed o where o.url_id = l.url_id and o.feed_id <> l.feed_id)) as is_going
    from (
      select * from listed where feed_id = $1 and missed_ts is null and url_id > $3 order by url_id limit ${CHUNK}) l
    join urls u on u.id = l.url_id
    left join events e on e.url_id = u.id and e.ts = u.event_ts and e.kind = u.event_kind) page`;

const FEED_ID = 'select id from reporters where text_key(name) = text_key($1)';

type Row = [rows: number, lastId: number | null, online: number, goingOffline: number];

/** Counts what a listing would take offline, page by page: a feed may list millions. */
export function createListingEffect(query: Query) {
  return async ({ feed, ts }: Listing): Promise<ListingEffect> => {
    const effect: ListingEffect = { online: 0, goingOffline: 0 };
    const [feedRow] = await query<[number]>(FEED_ID, [feed]);
    for (let after: number | null = 0; feedRow !== undefined && after !== null; ) {
      const [[rows, lastId, online, goingOffline]] = (await query<Row>(LISTED, [feedRow[0], ts, after])) as [Row];
      effect.online += online;
      effect.goingOffline += goingOffline;
      after = rows < CHUNK ? null : lastId;
    }
    return effect;
  };
}
