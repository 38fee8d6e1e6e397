-- breaking
-- An older program would take an offline that a listing implies (an event without a sighting) for nothing and delete it.

-- Complete listings that were read to their end. feed_id: the feed's name in `reporters`, as which it reports what its
-- listings imply. is_pending: what the listing implies is not written down everywhere yet.
create table listings (
  feed_id integer not null,
  ts integer not null,
  is_pending integer not null,
  primary key (feed_id, ts)
) strict, without rowid;

-- Per URL and feed: the newest listing that named the URL, and the first complete one after it, which is the one that
-- misses it; null while there is none, that is, while the feed lists the URL.
create table listed (
  url_id integer not null,
  feed_id integer not null,
  ts integer not null,
  missed_ts integer,
  primary key (url_id, feed_id)
) strict, without rowid;
-- What a newly finished listing can miss: (feed, null), and for one that came late (feed, the next one). Without ts,
-- which changes with every listing and would move the entry each time: the URLs that a feed lists are about as many as
-- it has just named, so looking at all of them costs less than naming them did.
create index listed_by_missed on listed (feed_id, missed_ts, url_id);
