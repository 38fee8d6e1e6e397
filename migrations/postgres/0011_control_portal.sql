-- Administrators may change accounts, feeds and the rest by page and API. Somebody must be one after an upgrade.
alter table accounts add column is_admin smallint not null default 0;
update accounts set is_admin = 1 where sub = (select sub from accounts order by created_ts, sub limit 1);
update control_version set version = version + 1;

-- Log-ins by page. id_hash: SHA-256 of the cookie. generation: that of the account at the log-in; another one ends the
-- session. used_ts: written every five minutes at most.
create table sessions (
  id_hash bytea primary key,
  sub text collate "C" not null,
  generation bigint not null,
  created_ts bigint not null,
  used_ts bigint not null,
  address text not null,
  agent text not null
);
create index sessions_by_sub on sessions (sub);
create index sessions_by_used on sessions (used_ts);

-- Servers that use this database; each writes seen_ts while it runs.
create table nodes (
  node text collate "C" primary key,
  name text not null,
  version text not null,
  started_ts bigint not null,
  seen_ts bigint not null
);
