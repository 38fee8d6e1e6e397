-- breaking
-- An older program would delete offline events that a listing implies, because these have no sighting.

-- Complete listings that were read to their end. feed_id: the feed's row in `reporters`; it is the reporter of the
-- events that its listings imply. is_pending: not all events that the listing implies are stored yet.
create table listings (
  feed_id integer not null,
  ts integer not null,
  is_pending integer not null,
  primary key (feed_id, ts)
) strict, without rowid;

-- Per URL and feed: ts is the newest listing that contains the URL. missed_ts is the first complete listing after it,
-- which does not contain the URL; null while there is none, that is, while the feed lists the URL.
create table listed (
  url_id integer not null,
  feed_id integer not null,
  ts integer not null,
  missed_ts integer,
  primary key (url_id, feed_id)
) strict, without rowid;
-- Finds the URLs that a newly finished listing may lack: (feed, null), or for a late listing (feed, the next listing).
-- Without ts, which changes with every listing and would move the entry each time. A scan of all URLs that the feed
-- lists is acceptable: they are about as many as the listing has just marked, which costs more than the scan.
create index listed_by_missed on listed (feed_id, missed_ts, url_id);
