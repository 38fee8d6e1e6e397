import type { Query } from '../../database/postgres/database.ts';
import { type CountedRow, countLive } from '../counts.ts';
import { EPISODE_KEY } from '../listing-rows.ts';
import type { ReputationStore } from '../store.ts';

/** Larger than on SQLite: the database reads it while this process does other work. */
const LISTINGS_PAGE = 5_000;

const LISTINGS = `
  select ${EPISODE_KEY}, e.seen_ts, s.life_seconds, s.interval_seconds
  from (
    select * from episodes e where (${EPISODE_KEY}) > ($1, $2, $3, $4, $5, $6, $7)
    order by ${EPISODE_KEY} limit ${LISTINGS_PAGE}) e
  join sources s on s.id = e.source_id
  order by ${EPISODE_KEY}`;

/** Ids in one page of a count. */
const COUNTED_IDS = 50_000;

const DOMAINS = 'select count(*), (select max(id) from domains) from domains where id > $1 and id <= $2';

export function createCounts(query: Query): Pick<ReputationStore, 'countListings' | 'countDomains'> {
  return {
    countListings: async (after, nowTs) =>
      countLive(await query<CountedRow>(LISTINGS, [...after]), LISTINGS_PAGE, nowTs),
    async countDomains(after) {
      const last = after + COUNTED_IDS;
      const [row] = await query<[count: number, lastId: number | null]>(DOMAINS, [after, last]);
      const [domains, lastId] = row ?? [0, null];
      return { domains, next: last >= (lastId ?? 0) ? null : last };
    },
  };
}
