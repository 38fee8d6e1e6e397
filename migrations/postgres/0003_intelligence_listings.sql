-- Complete listings; migrations/sqlite explains the columns. A transaction that reads `listings` in order to write
-- locks the feed's row in `reporters`: shared while it marks URLs as listed, exclusive while it adds or finishes a
-- listing.

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
