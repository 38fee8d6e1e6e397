-- Reports of usage, its retention, and accounts that were removed.

-- For reports of a month, and for deleting old months.
create index usage_by_period on usage (period, number, sub);

-- Without the username. The usage of a removed account is kept until its month was reported. qms, qmh: the monthly limits of
-- its tier when it was removed; null if there was no such tier.
create table removed_accounts (
  sub text collate "C" primary key,
  tier text collate "C" not null,
  qms bigint,
  qmh bigint,
  removed_ts bigint not null
);

-- Months since 1970 whose usage was reported for good.
create table reported_months (
  month bigint primary key,
  reported_ts bigint not null
);

-- Work that one of all servers does once a day: when it last began.
create table daily_tasks (
  name text collate "C" primary key,
  started_ts bigint not null
);
