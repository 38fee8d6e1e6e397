-- Lists for devices that an operator has defined; the built-in ones are in exports/built-in.ts. filter: one JSON object,
-- because no query filters by it.
create table device_lists (
  name text primary key,
  kind text not null,
  description text not null,
  filter text not null,
  changed_ts integer not null
) strict, without rowid;

-- What is on no list. list: empty for all lists. until_ts: null for no end.
create table list_exclusions (
  id integer primary key,
  list text not null,
  kind text not null,
  value text not null,
  with_subdomains integer not null,
  reason text not null,
  set_ts integer not null,
  until_ts integer
) strict;
create unique index list_exclusions_by_value on list_exclusions (list, kind, value);

-- Keys of devices. key_hash: SHA-256 of the key. The last fetch is written every few seconds at most.
create table list_keys (
  id integer primary key,
  key_hash blob not null unique,
  list text not null,
  device text not null,
  sub text not null,
  created_ts integer not null,
  fetch_ts integer,
  fetch_address text,
  fetch_etag text
) strict;
create index list_keys_by_list on list_keys (list, id);
create index list_keys_by_sub on list_keys (sub, id);

-- The serial of the newest content of each list.
create table list_serials (
  list text primary key,
  content_hash blob not null,
  serial integer not null
) strict, without rowid;

-- One row. version grows with each change of lists and exclusions. last_id: of exclusions and keys, so that none is used
-- twice: the last fetch of a removed key must not become that of a new one.
create table lists_state (
  version integer not null,
  last_id integer not null
) strict;
insert into lists_state values (0, 0);
