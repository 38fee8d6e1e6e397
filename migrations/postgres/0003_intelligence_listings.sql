-- Complete listings; the reasons are in migrations/sqlite. Whoever reads `listings` in order to write holds a lock on
-- the feed's row in `reporters`: shared while URLs are named, alone while a listing is added or finished.

-- is_pending: 0 or 1, as in SQLite.
create table listings (
  feed_id bigint not null,
  ts bigint not null,
  is_pending smallint not null,
  primary key (feed_id, ts)
);

create table listed (
  url_id bigint not null,
  feed_id bigint not null,
  ts bigint not null,
  missed_ts bigint,
  primary key (url_id, feed_id)
);
create index listed_by_missed on listed (feed_id, missed_ts, url_id);
