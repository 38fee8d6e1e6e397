import { PAGE_ROWS } from '../../database/pages.ts';
import type { Database } from '../../database/sqlite/database.ts';
import { type CountedRow, countLive } from '../counts.ts';
import { EPISODE_KEY } from '../listing-rows.ts';
import type { ReputationStore } from '../store.ts';

const LISTINGS = `
  select ${EPISODE_KEY}, e.seen_ts, s.life_seconds, s.interval_seconds
  from episodes e join sources s on s.id = e.source_id
  where (${EPISODE_KEY}) > (?, ?, ?, ?, ?, ?, ?)
  order by ${EPISODE_KEY} limit ${PAGE_ROWS}`;

/** Ids in one page of a count. */
const COUNTED_IDS = 1_000;

const DOMAINS = 'select count(*) from domains where id > ? and id <= ?';

const LAST_DOMAIN = 'select max(id) from domains';

export function createCounts(db: Database): Pick<ReputationStore, 'countListings' | 'countDomains'> {
  const listings = db.prepare<CountedRow>(LISTINGS);
  const domains = db.prepare<[number]>(DOMAINS);
  const lastDomain = db.prepare<[number | null]>(LAST_DOMAIN);
  return {
    countListings: async (after, nowTs) => countLive(listings.all(...after), PAGE_ROWS, nowTs),
    async countDomains(after) {
      const last = after + COUNTED_IDS;
      const [count] = domains.one(after, last);
      return { domains: count, next: last >= (lastDomain.get()?.[0] ?? 0) ? null : last };
    },
  };
}
