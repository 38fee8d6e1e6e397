-- Who changed what. Rows are only added: the triggers refuse any other change. changes: one JSON object, because no query
-- filters by it.
create table audit (
  id integer primary key,
  ts integer not null,
  source text not null,
  actor text not null,
  origin text not null,
  action text not null,
  subject text not null,
  changes text not null
) strict;
create index audit_by_ts on audit (ts, id);

-- One row: rows of audit before keep_since_ts may be deleted, and when this is done next.
create table audit_retention (
  keep_since_ts integer not null,
  next_run_ts integer not null
) strict;
insert into audit_retention values (0, 0);

create trigger audit_refuses_update before update on audit begin
  select raise(abort, 'the audit log is append-only');
end;

create trigger audit_refuses_delete before delete on audit
when not exists (select 1 from audit_retention where keep_since_ts > old.ts) begin
  select raise(abort, 'the audit log is append-only');
end;

-- An account passed its soft limit in a month (months since 1970). The key admits one event, whichever node sees it.
-- next_ts: when the webhook is sent next; null if it was sent, given up, or is not set.
create table soft_limit_events (
  sub text not null,
  month integer not null,
  id text not null,
  username text not null,
  tier text not null,
  soft_limit integer not null,
  count integer not null,
  ts integer not null,
  attempts integer not null default 0,
  next_ts integer,
  delivered_ts integer,
  last_error text,
  primary key (sub, month)
) strict, without rowid;
create index soft_limit_events_by_next on soft_limit_events (next_ts);
