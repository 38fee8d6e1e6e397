import type { Database } from '../../database/sqlite/database.ts';
import { FIRST_OFFLINE_KIND, NEWEST_URLS, type UrlStore } from '../store.ts';
import { createUrlSummaries, type SummaryRow } from '../summaries.ts';

const GREATEST_IDS = 'select id from urls order by id desc limit ?';

/**
 * Of several addresses at the newest time the smallest, by aggregates: no statement of this store sorts. The subqueries
 * compare with the parameter, so that each runs once. With `u.id` each would run for every address: a URL with 10,000 took 7 s.
 */
const SUMMARY = `
  select u.id, u.url, u.event_kind, u.event_ts, u.payload_ts, reporters.name, families.name, r.ip, r.asn, r.ts
  from urls u
  left join reporters on reporters.id = u.event_reporter_id
  left join payloads p on p.url_id = u.id and p.ts = u.payload_ts and p.file_id = u.payload_file_id
  left join families on families.id = p.family_id
  left join resolutions r on r.url_id = u.id and r.ts = (select max(ts) from resolutions where url_id = ?1)
    and r.ip = (select min(ip) from resolutions
                where url_id = ?1 and ts = (select max(ts) from resolutions where url_id = ?1))
  where u.id = ?1`;

/** Ids in one page of a count: 500 rows of `urls` are read in about 0.2 ms. */
const COUNTED_IDS = 500;

const COUNT = `
  select count(*), count(iif(event_kind < ${FIRST_OFFLINE_KIND}, 1, null)) from urls where id > :after and id <= :last`;

/** By id: with the index `urls_online` every page would read all URLs that are online, hence the `+`. */
const NEWEST_ONLINE = `
  select id, event_ts from urls where id > :after and id <= :last and +event_kind < ${FIRST_OFFLINE_KIND}
  order by event_ts desc, id desc limit ${NEWEST_URLS}`;

const LAST_ID = 'select max(id) from urls';

/** Short descriptions of URLs, and how many there are. */
export function createSummaries(db: Database): Pick<UrlStore, 'lastStoredUrls' | 'urlSummaries' | 'countUrls'> {
  const greatestIds = db.prepare<[number]>(GREATEST_IDS);
  const summary = db.prepare<SummaryRow>(SUMMARY);
  const count = db.prepare<[urls: number, online: number]>(COUNT);
  const newestOnline = db.prepare<[id: number, ts: number]>(NEWEST_ONLINE);
  const lastId = db.prepare<[number | null]>(LAST_ID);
  return {
    ...createUrlSummaries({
      greatestIds: (limit) => greatestIds.all(limit),
      summaries: (ids) => ids.flatMap((id) => summary.all(id)),
    }),
    async countUrls(after) {
      const last = after + COUNTED_IDS;
      const [urls, online] = count.one({ after, last });
      const newest = newestOnline.all({ after, last }).map(([id, ts]) => ({ id, ts }));
      return { urls, online, newest, next: last >= (lastId.get()?.[0] ?? 0) ? null : last };
    },
  };
}
