-- heartbeat_ts: when a running import last recorded its counts; an import of an older program has none. writes: how many
-- writes of the import the database had confirmed then. A standby that lagged and was promoted has fewer.
alter table imports add column heartbeat_ts bigint;
alter table imports add column writes bigint not null default 0;
