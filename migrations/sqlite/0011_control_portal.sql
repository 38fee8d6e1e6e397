-- Administrators may change accounts, feeds and the rest by page and API. Somebody must be one after an upgrade.
alter table accounts add column is_admin integer not null default 0;
update accounts set is_admin = 1 where sub = (select sub from accounts order by created_ts, sub limit 1);
update control_version set version = version + 1;

-- Log-ins by page. id_hash: SHA-256 of the cookie. generation: that of the account at the log-in; another one ends the
-- session. used_ts: written every five minutes at most.
create table sessions (
  id_hash blob primary key,
  sub text not null,
  generation integer not null,
  created_ts integer not null,
  used_ts integer not null,
  address text not null,
  agent text not null
) strict, without rowid;
create index sessions_by_sub on sessions (sub);
create index sessions_by_used on sessions (used_ts);

-- Servers that use this database; each writes seen_ts while it runs.
create table nodes (
  node text primary key,
  name text not null,
  version text not null,
  started_ts integer not null,
  seen_ts integer not null
) strict, without rowid;
