-- Lists for devices that an operator has defined; the built-in ones are in exports/built-in.ts. filter: one JSON object,
-- because no query filters by it.
create table device_lists (
  name text collate "C" primary key,
  kind text not null,
  description text not null,
  filter text not null,
  changed_ts bigint not null
);

-- What is on no list. list: empty for all lists. until_ts: null for no end.
create table list_exclusions (
  id bigint primary key,
  list text collate "C" not null,
  kind text collate "C" not null,
  value text collate "C" not null,
  with_subdomains smallint not null,
  reason text not null,
  set_ts bigint not null,
  until_ts bigint
);
-- A URL may be longer than an entry of an index.
create unique index list_exclusions_by_value on list_exclusions (list, kind, text_key(value));

-- Keys of devices. key_hash: SHA-256 of the key. The last fetch is written every few seconds at most.
create table list_keys (
  id bigint primary key,
  key_hash bytea not null unique,
  list text collate "C" not null,
  device text not null,
  sub text collate "C" not null,
  created_ts bigint not null,
  fetch_ts bigint,
  fetch_address text,
  fetch_etag text
);
create index list_keys_by_list on list_keys (list, id);
create index list_keys_by_sub on list_keys (sub, id);

-- The serial of the newest content of each list.
create table list_serials (
  list text collate "C" primary key,
  content_hash bytea not null,
  serial bigint not null
);

-- One row. version grows with each change of lists and exclusions. last_id: of exclusions and keys, so that none is used
-- twice: the last fetch of a removed key must not become that of a new one. Every change of them locks the row first: all
-- nodes make one change at a time.
create table lists_state (
  version bigint not null,
  last_id bigint not null
);
insert into lists_state values (0, 0);
