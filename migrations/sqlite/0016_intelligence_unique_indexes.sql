-- The keys of URLs, hosts and domains become indexes with names, so that the first import can leave them out until its end
-- (database/sqlite/deferred-indexes.ts). SQLite cannot drop a constraint, so the tables are copied: some seconds for a million
-- URLs.

create table new_urls (
  id integer primary key,
  url_key blob not null,
  url text not null,
  host_id integer not null,
  event_ts integer,
  event_kind integer,
  event_removal_id integer,
  event_reporter_id integer,
  payload_ts integer,
  payload_file_id integer
) strict;
insert into new_urls
  select id, url_key, url, host_id, event_ts, event_kind, event_removal_id, event_reporter_id, payload_ts, payload_file_id
  from urls order by id;
drop table urls;
alter table new_urls rename to urls;
create unique index urls_by_key on urls (url_key);
create index urls_online on urls (event_kind) where event_kind < 2;

create table new_hosts (
  id integer primary key,
  host text not null,
  domain_id integer,
  ip blob
) strict;
insert into new_hosts select id, host, domain_id, ip from hosts order by id;
drop table hosts;
alter table new_hosts rename to hosts;
create unique index hosts_by_name on hosts (host);
create index hosts_by_domain on hosts (domain_id) where domain_id is not null;
create index hosts_by_ip on hosts (ip) where ip is not null;

create table new_domains (
  id integer primary key,
  name text not null,
  first_url_ts integer
) strict;
insert into new_domains select id, name, first_url_ts from domains order by id;
drop table domains;
alter table new_domains rename to domains;
create unique index domains_by_name on domains (name);
