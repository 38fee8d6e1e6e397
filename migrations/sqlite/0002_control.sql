-- Accounts, tiers, signing keys and usage. They have their own database file, so that counting never waits for an
-- import.

-- One row. Every change of accounts, tiers and keys raises it, so that caches in memory know when to read again.
create table control_version (
  version integer not null
) strict;
insert into control_version values (0);

-- username_key: the form in which usernames are compared (accounts/manage.ts).
create table accounts (
  sub text primary key,
  username text not null,
  username_key text not null unique,
  password_hash text not null,
  tier text not null,
  is_enabled integer not null,
  generation integer not null,
  created_ts integer not null
) strict, without rowid;

-- Tiers that an operator has set; the built-in tiers are in core/tier.ts. ads: names separated by commas.
create table tiers (
  name text primary key,
  trs text not null,
  ads text not null,
  qms integer not null,
  qmh integer not null,
  rl_qps integer,
  rl_qpm integer,
  rl_qph integer
) strict, without rowid;

-- id defines the order, because clocks can be set back. The newest row is never deleted, so ids are never reused.
create table signing_keys (
  id integer primary key,
  kid text not null unique,
  secret blob not null,
  created_ts integer not null
) strict;

-- Queries counted in a UTC day (number: days since 1970) or calendar month (months since 1970).
create table usage (
  sub text not null,
  period text not null,
  number integer not null,
  count integer not null,
  primary key (sub, period, number)
) strict, without rowid;
