-- Feeds that the server fetches, the results of imports, and the rows that imports rejected.

-- headers: one JSON object, secret. The columns from etag on are the state after the last run. lease: the process that
-- runs the feed now, and until when.
create table feeds (
  name text primary key,
  format text not null,
  url text not null,
  interval_seconds integer not null,
  headers text not null,
  is_complete integer not null,
  is_paused integer not null,
  allows_private integer not null,
  etag text,
  last_modified text,
  last_run_ts integer,
  last_success_ts integer,
  last_error text,
  next_run_ts integer not null,
  failures integer not null,
  rows integer,
  lease_owner text,
  lease_until_ts integer not null default 0
) strict, without rowid;

-- counts: one JSON object, because no query filters by it. The newest row is never deleted, so ids are never reused.
create table imports (
  id integer primary key,
  format text not null,
  feed text not null,
  source text not null,
  started_ts integer not null,
  finished_ts integer,
  outcome text,
  counts text not null,
  error text
) strict;
create index imports_by_feed on imports (feed, id);

create table rejects (
  import_id integer not null,
  number integer not null,
  line integer not null,
  reason text not null,
  text text not null,
  primary key (import_id, number)
) strict, without rowid;
