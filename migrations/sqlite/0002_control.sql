-- Who may ask, how much, and with which keys tokens are signed. A file of its own: counting never waits for an import.

-- One row. Raised by every change of accounts, tiers and keys, so that a copy in memory knows when it is old.
create table control_version (
  version integer not null
) strict;
insert into control_version values (0);

-- username_key is what usernames are compared by (core/username.ts).
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

-- Those that an operator has set; the built-in ones are in core/tier.ts. ads: names with commas between them.
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

-- id tells the order: clocks can be set back. The newest row is never deleted, so that ids never come twice.
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
