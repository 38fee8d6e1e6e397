-- Reputation of addresses and domains. A network is sixteen bytes (IPv4 as ::ffff:a.b.c.d) and the number of their bits that
-- are fixed: an IPv4 /24 has prefix 120.

-- Who gives evidence: a feed, the name of an import, or `operator`. Sightings of URLs are source 0, which has no row.
-- trust_permille: 900 is a trust of 0.9. life_seconds: null for the life of the dataset. interval_seconds: of the feed.
create table sources (
  id integer primary key,
  name text not null unique,
  trust_permille integer not null,
  life_seconds integer,
  interval_seconds integer
) strict;

-- Listings of addresses. A row is an episode: evidence without a gap longer than its life (reputation/episode-rules.ts).
-- dataset: index in ADDRESS_DATASETS (core/evidence.ts). family_id: 0 without a family. port: -1 without a port.
-- details: what the newest evidence says besides, as JSON with sorted keys; empty without any.
-- The key serves both modes: `listed` is a range of ip, `listings` an equality on each wider network.
create table episodes (
  ip blob not null,
  prefix integer not null,
  dataset integer not null,
  source_id integer not null,
  family_id integer not null,
  port integer not null,
  listed_ts integer not null,
  seen_ts integer not null,
  details text not null,
  primary key (ip, prefix, dataset, source_id, family_id, port, listed_ts)
) strict, without rowid;

-- The prefix lengths of the listed networks in a block of addresses, so that only these are looked up around an address.
-- A network is in the smallest block that contains it (reputation/listing-blocks.ts); a single address is in none.
create table listing_blocks (
  ip blob not null,
  block_prefix integer not null,
  prefix integer not null,
  primary key (ip, block_prefix, prefix)
) strict, without rowid;

-- Listings that the operator removed. Evidence up to until_ts does not list the network again for this source.
create table listing_removals (
  ip blob not null,
  prefix integer not null,
  dataset integer not null,
  source_id integer not null,
  removed_ts integer not null,
  until_ts integer not null,
  reason text not null,
  primary key (ip, prefix, dataset, source_id, removed_ts)
) strict, without rowid;

-- Networks on allow lists (kind 0) and shared networks (kind 1): index in NETWORK_LIST_KINDS (core/evidence.ts).
-- ts: the time of the list. Entries of a source that its next list does not have are deleted.
create table network_lists (
  kind integer not null,
  ip blob not null,
  prefix integer not null,
  source_id integer not null,
  ts integer not null,
  reason text not null,
  primary key (kind, ip, prefix, source_id)
) strict, without rowid;

-- Names on lists: index in NAME_LIST_KINDS (core/evidence.ts). rank: only in a popularity list that has ranks.
-- name: the registrable domain of the entry, or the entry itself if it is a public suffix.
create table name_lists (
  name text not null,
  kind integer not null,
  source_id integer not null,
  rank integer,
  ts integer not null,
  primary key (name, kind, source_id)
) strict, without rowid;
create index name_lists_by_source on name_lists (source_id, ts);

-- One row. Every change of listing_removals and network_lists raises it: they are kept in memory.
create table list_version (
  version integer not null
) strict;
insert into list_version values (0);

-- Registrable domains. first_url_ts: the earliest time that a URL of the domain was seen online: the first ts of its online
-- runs.
create table domains (
  id integer primary key,
  name text not null unique,
  first_url_ts integer
) strict;

-- domain_id: null for an address and for a public suffix. ip: the address, if the host is one. Both are null in rows of an
-- older program, until `urlwarden domain rebuild`.
alter table hosts add column domain_id integer;
alter table hosts add column ip blob;
create index hosts_by_domain on hosts (domain_id) where domain_id is not null;
create index hosts_by_ip on hosts (ip) where ip is not null;

-- The newest time that a URL was seen online, if its host has a domain. It is the confirmed_ts of its newest online run in
-- events (kind 0 or 1), in any order of arrival: see urls/sighting-rules.ts.
-- The score reads the newest 64 from the index alone.
create table url_sightings (
  url_id integer primary key,
  domain_id integer not null,
  host_id integer not null,
  online_ts integer not null
) strict;
create index url_sightings_by_domain on url_sightings (domain_id, online_ts, url_id, host_id);

-- What feeds say about names. One row per source, kind (index in DOMAIN_KINDS, core/evidence.ts) and host name.
-- best_ts, best_confidence: the sighting that counts most, which does not change with time. rank: best_ts + half-life ·
-- log2(weight), in whole seconds: sorts the rows of one kind by what they count, at any time.
-- details: what the newest sighting says, as JSON with sorted keys.
create table domain_evidence (
  domain_id integer not null,
  source_id integer not null,
  kind integer not null,
  host_id integer not null,
  rank integer not null,
  best_ts integer not null,
  best_confidence integer not null,
  first_ts integer not null,
  last_ts integer not null,
  details text not null,
  primary key (domain_id, source_id, kind, host_id)
) strict, without rowid;
create index domain_evidence_by_rank on domain_evidence (domain_id, source_id, kind, rank, host_id);
-- The newest row decides when the domain was last seen, and whether it is abused. It may count less than others.
create index domain_evidence_by_time on domain_evidence (domain_id, source_id, kind, last_ts, host_id);

-- One row per name, address and UTC day, with the newest ts of that day. origin: 0 from observations of URLs, 1 from facts.
-- Rows that `urlwarden domain rebuild` adds for older data have the ts of resolutions, which is the earliest of that day.
create table name_addresses (
  domain_id integer not null,
  host_id integer not null,
  ip blob not null,
  day integer not null,
  origin integer not null,
  ts integer not null,
  primary key (domain_id, host_id, ip, day, origin)
) strict, without rowid;

-- One row per domain, name server and UTC day, with the newest ts of that day.
create table name_servers (
  domain_id integer not null,
  ns_host_id integer not null,
  day integer not null,
  ts integer not null,
  primary key (domain_id, ns_host_id, day)
) strict, without rowid;

-- helo: empty if unknown. ts: the newest sighting.
create table senders (
  domain_id integer not null,
  ip blob not null,
  helo text not null,
  ts integer not null,
  primary key (domain_id, ip, helo)
) strict, without rowid;

-- The newest registration data.
create table domain_whois (
  domain_id integer primary key,
  ts integer not null,
  created_ts integer,
  expires_ts integer,
  registrar text
) strict;

-- What the operator set. is_abused: null if not set.
create table domain_settings (
  domain_id integer primary key,
  human integer not null,
  is_abused integer,
  reason text not null,
  set_ts integer not null
) strict;

-- One row while `urlwarden domain rebuild` is unfinished: where it continues. step: 0 hosts, 1 URLs. last_id: the last row
-- when the step began; later ones need no rebuild. Meanwhile rows of url_sightings may be missing.
create table domain_rebuild (
  id integer primary key,
  step integer not null,
  after_id integer not null,
  last_id integer not null
) strict;
