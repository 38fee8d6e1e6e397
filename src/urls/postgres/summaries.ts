import type { Query } from '../../database/postgres/database.ts';
import { FIRST_OFFLINE_KIND, NEWEST_URLS, type UrlStore } from '../store.ts';
import { createUrlSummaries } from '../summaries.ts';

const GREATEST_IDS = 'select id from urls order by id desc limit $1';

// Small tables are looked up by id in subqueries: for a join the planner may read a whole table.
const SUMMARIES = `
  select u.id, u.url, u.event_kind, u.event_ts, u.payload_ts,
    (select name from reporters where id = u.event_reporter_id),
    (select (select name from families where id = p.family_id) from payloads p
     where p.url_id = u.id and p.ts = u.payload_ts and p.file_id = u.payload_file_id),
    r.ip, r.asn, r.ts
  from urls u left join lateral (
    select ip, asn, ts from resolutions where url_id = u.id order by ts desc, ip limit 1) r on true
  where u.id = any($1::bigint[])`;

/** Ids in one page of a count: about 20 ms in the database, which nothing else waits for. */
const COUNTED_IDS = 50_000;

const COUNT = `
  select count(*), count(*) filter (where event_kind < ${FIRST_OFFLINE_KIND}),
    (select max(id) from urls)
  from urls where id > $1 and id <= $2`;

const NEWEST_ONLINE = `
  select id, event_ts from urls where id > $1 and id <= $2 and event_kind < ${FIRST_OFFLINE_KIND}
  order by event_ts desc, id desc limit ${NEWEST_URLS}`;

/** Short descriptions of URLs, and how many there are. */
export function createSummaries(query: Query): Pick<UrlStore, 'lastStoredUrls' | 'urlSummaries' | 'countUrls'> {
  return {
    ...createUrlSummaries({
      greatestIds: (limit) => query(GREATEST_IDS, [limit]),
      summaries: (ids) => query(SUMMARIES, [ids]),
    }),
    async countUrls(after) {
      const last = after + COUNTED_IDS;
      const [[row], newest] = await Promise.all([
        query<[urls: number, online: number, lastId: number | null]>(COUNT, [after, last]),
        query<[id: number, ts: number]>(NEWEST_ONLINE, [after, last]),
      ]);
      const [urls, online, lastId] = row ?? [0, 0, null];
      return {
        urls,
        online,
        newest: newest.map(([id, ts]) => ({ id, ts })),
        next: last >= (lastId ?? 0) ? null : last,
      };
    },
  };
}
