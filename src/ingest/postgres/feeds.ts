import type { Database } from '../../database/postgres/database.ts';
import { withoutNul } from '../../database/postgres/parameters.ts';
import { FEED_COLUMNS, type FeedRow, LEASE_MAX_SECONDS, REPLACE_FEED, toFeed, toFeedRow } from '../rows.ts';
import type { Feed, FeedStore } from '../store.ts';

const FEED = `select ${FEED_COLUMNS} from feeds where name = $1`;

const INSERT = `
  insert into feeds (${FEED_COLUMNS})
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`;

/** Concurrent updates wait for the row lock, then evaluate the condition again on the new row. */
const LEASE = `
  update feeds set lease_owner = $2, lease_until_ts = $4
  where name = $1 and (lease_owner = $2 or lease_until_ts <= $3 or lease_until_ts > $3 + ${LEASE_MAX_SECONDS})`;

const LEASED = `select name from feeds where lease_until_ts > $1 and lease_until_ts <= $1 + ${LEASE_MAX_SECONDS}`;

const RELEASE = 'update feeds set lease_owner = null, lease_until_ts = 0 where name = $1 and lease_owner = $2';

/** Feeds in PostgreSQL, shared by all nodes. */
export function createFeedStore(db: Database): FeedStore {
  return {
    feeds: async () => (await db.query<FeedRow>(`select ${FEED_COLUMNS} from feeds order by name`)).map(toFeed),

    async feed(name) {
      const [row] = await db.query<FeedRow>(FEED, [name]);
      return row === undefined ? null : toFeed(row);
    },

    addFeed: async (feed) => (await db.run(`${INSERT} on conflict do nothing`, storableRow(feed))) > 0,

    changeFeed: (name, change) =>
      db.transaction(async (session) => {
        const [row] = await session.query<FeedRow>(`${FEED} for update`, [name]);
        if (row !== undefined)
          await session.run(`${INSERT} ${REPLACE_FEED}`, storableRow({ ...toFeed(row), ...change }));
        return row !== undefined;
      }),

    removeFeed: async (name) => (await db.run('delete from feeds where name = $1', [name])) > 0,

    leaseFeed: async (name, owner, { nowTs, untilTs }) => (await db.run(LEASE, [name, owner, nowTs, untilTs])) > 0,

    leasedFeeds: async (nowTs) => (await db.query<[name: string]>(LEASED, [nowTs])).map(([name]) => name),

    async releaseFeed(name, owner) {
      await db.run(RELEASE, [name, owner]);
    },
  };
}

const storableRow = (feed: Feed): FeedRow => toFeedRow({ ...feed, lastError: withoutNul(feed.lastError) });
