-- The change feed. A row is what one transaction did to up to 200 subjects of one kind, so that an import writes few rows.
-- seq: the number of its last subject; the one before has seq - 1. On PostgreSQL it is null until the row gets its number.
-- op, kind: indexes in CHANGE_OPERATIONS and CHANGE_KINDS (database/changes.ts). kind is null, and count 1, for a
-- transaction that changed something that the feed does not tell. ts: the clock at the time of the write.
-- subjects: JSON. Ids of URLs, names of domains, or keys of listings; the state is read when somebody asks.
create table changes (
  id integer primary key,
  seq integer,
  count integer not null,
  ts integer not null,
  op integer not null,
  kind integer,
  subjects text not null
) strict;
create unique index changes_by_seq on changes (seq);

-- One row. newest: the newest number; none is used twice, also after all rows were deleted. place: which PostgreSQL server
-- gave it, so that another one after a failover or a restore is noticed; empty in this database.
create table change_numbers (
  newest integer not null,
  place text not null
) strict;
insert into change_numbers values (0, '');
