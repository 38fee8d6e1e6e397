-- URL intelligence. `ts` is Unix seconds in every table.
-- Numbers are declared `integer` in strict tables: without a type SQLite would store node:sqlite's numbers as 8-byte
-- reals.

create table hosts (
  id integer primary key,
  host text not null unique
) strict;

create table reporters (
  id integer primary key,
  name text not null unique
) strict;

create table removals (
  id integer primary key,
  reason text not null unique
) strict;

-- Every spelling is stored for responses; a search finds all spellings with the same folded form.
create table families (
  id integer primary key,
  name text not null unique,
  folded text not null
) strict;
create index families_by_folded on families (folded);

-- url_key: the first 16 bytes of the SHA-256 of the URL. An index on the text would double the table.
-- The newest event and payload are copied here, so that `last` is one read.
create table urls (
  id integer primary key,
  url_key blob not null unique,
  url text not null,
  host_id integer not null,
  event_ts integer,
  event_kind integer,
  event_removal_id integer,
  event_reporter_id integer,
  payload_ts integer,
  payload_file_id integer
) strict;

-- kind: index in ENTRY_KINDS (urls/stored-timeline.ts); 4 and 5 are confirmations of a removal, not events.
-- confirmed_ts: the newest sighting of the run that the event started; null for an implied `added`.
create table events (
  url_id integer not null,
  ts integer not null,
  kind integer not null,
  host_id integer not null,
  removal_id integer not null,
  reporter_id integer not null,
  confirmed_ts integer,
  primary key (url_id, ts, kind)
) strict, without rowid;
create index events_by_host on events (host_id, ts, url_id, kind) where kind < 4;

-- file_key: the 32 bytes of the SHA-256 of the file; when it is unknown, 16 bytes of a hash of the details.
-- The first known value of a detail is stored and never changed.
create table files (
  id integer primary key,
  file_key blob not null unique,
  mime_type text,
  file_type text,
  file_ext text,
  file_size integer,
  file_name text,
  family_id integer
) strict;

-- A detail is null when the observation has none or the same value as the row of the file.
-- family_id is the family in the response, also when it comes from the file, so that a search by family reads one
-- index.
create table payloads (
  url_id integer not null,
  ts integer not null,
  file_id integer not null,
  family_id integer,
  mime_type text,
  file_type text,
  file_ext text,
  file_size integer,
  file_name text,
  primary key (url_id, ts, file_id)
) strict, without rowid;
create index payloads_by_file on payloads (file_id, ts, url_id);
create index payloads_by_family on payloads (family_id, ts, url_id, file_id) where family_id is not null;

-- Files whose family became known after some of their payloads were stored; a row is deleted when all of these have it.
create table family_spreads (
  file_id integer primary key
) strict;

-- One row per URL, address and UTC day, with the earliest ts of that day. ip: 16 sortable bytes, IPv4 as
-- ::ffff:a.b.c.d.
-- bucket: 30 days. An index on (ip, ts) cannot serve a range of addresses and a range of times together. With the
-- bucket in front, a search of a short window in a large network reads the addresses of one bucket instead of all
-- times.
create table resolutions (
  url_id integer not null,
  ip blob not null,
  day integer not null,
  ts integer not null,
  bucket integer not null,
  asn integer,
  primary key (url_id, ip, day)
) strict, without rowid;
create index resolutions_by_ip on resolutions (bucket, ip, ts, url_id);
create index resolutions_by_asn on resolutions (asn, ts, url_id, ip) where asn is not null;
