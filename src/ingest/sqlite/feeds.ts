import type { Database } from '../../database/sqlite/database.ts';
import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import { FEED_COLUMNS, type FeedRow, LEASE_MAX_SECONDS, REPLACE_FEED, toFeed, toFeedRow } from '../rows.ts';
import type { Feed, FeedChange, FeedStore } from '../store.ts';

const LEASED = `
  select name from feeds where lease_until_ts > :nowTs and lease_until_ts <= :nowTs + ${LEASE_MAX_SECONDS}`;

const FEED = `select ${FEED_COLUMNS} from feeds where name = ?`;

/** Feeds in `control.db`. */
export function createFeedStore({ db, write }: DatabaseFile<FeedWrites>): FeedStore {
  const all = db.prepare<FeedRow>(`select ${FEED_COLUMNS} from feeds order by name`);
  const one = db.prepare<FeedRow>(FEED);
  const leased = db.prepare<[name: string]>(LEASED);

  return {
    feeds: async () => all.all().map(toFeed),
    async feed(name) {
      const row = one.get(name);
      return row === undefined ? null : toFeed(row);
    },
    addFeed: (feed) => write('addFeed', feed),
    changeFeed: (name, change) => write('changeFeed', name, change),
    removeFeed: (name) => write('removeFeed', name),
    leaseFeed: (name, owner, lease) => write('leaseFeed', name, owner, lease),
    leasedFeeds: async (nowTs) => leased.all({ nowTs }).map(([name]) => name),
    releaseFeed: (name, owner) => write('releaseFeed', name, owner),
  };
}

const INSERT = `
  insert into feeds (${FEED_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const LEASE = `
  update feeds set lease_owner = :owner, lease_until_ts = :untilTs
  where name = :name and (lease_owner = :owner or lease_until_ts <= :nowTs
    or lease_until_ts > :nowTs + ${LEASE_MAX_SECONDS})`;

const RELEASE = 'update feeds set lease_owner = null, lease_until_ts = 0 where name = ? and lease_owner = ?';

type FeedWrites = ReturnType<typeof createFeedWrites>;

/** Write operations; they run on the writer thread of `control.db`. */
export function createFeedWrites(db: Database) {
  const one = db.prepare<FeedRow>(FEED);
  const add = db.prepare(`${INSERT} on conflict do nothing`);
  const replace = db.prepare(`${INSERT} ${REPLACE_FEED}`);
  const remove = db.prepare('delete from feeds where name = ?');
  const lease = db.prepare(LEASE);
  const release = db.prepare(RELEASE);

  return {
    addFeed: (feed: Feed): boolean => add.run(...toFeedRow(feed)) > 0,

    changeFeed(name: string, change: FeedChange): boolean {
      return db.transaction(() => {
        const row = one.get(name);
        if (row !== undefined) replace.run(...toFeedRow({ ...toFeed(row), ...change }));
        return row !== undefined;
      });
    },

    removeFeed: (name: string): boolean => remove.run(name) > 0,

    leaseFeed: (name: string, owner: string, { nowTs, untilTs }: { nowTs: number; untilTs: number }): boolean =>
      lease.run({ name, owner, nowTs, untilTs }) > 0,

    releaseFeed(name: string, owner: string): void {
      release.run(name, owner);
    },
  };
}
