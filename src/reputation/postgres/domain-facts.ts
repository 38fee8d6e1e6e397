import { NAME_LIST_KINDS } from '../../core/evidence.ts';
import type { Scalar } from '../../database/postgres/array-literal.ts';
import type { Session } from '../../database/postgres/database.ts';
import { inOrder } from '../../database/postgres/lock-order.ts';
import { columns, runRows } from '../../database/postgres/parameters.ts';
import { type FactRows, mergeWhois, type WhoisRow } from '../domain-rules.ts';
import { isOfNewestVersion } from './address-lists.ts';
import { idOf, type TextIds, type WithIds } from './domain-evidence.ts';

export function whoisWithIds(row: WhoisRow, ids: TextIds): WithIds<WhoisRow> {
  return { ids: [idOf(ids.domains, row.domain)], row };
}

const GIVEN_WHOIS = `
  unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[])
  as t (domain_id, ts, created_ts, expires_ts, registrar)`;

const ADD_WHOIS = `
  insert into domain_whois (domain_id, ts, created_ts, expires_ts, registrar)
  select * from ${GIVEN_WHOIS}
  where not exists (select 1 from domain_whois w where w.domain_id = t.domain_id)
  order by domain_id on conflict do nothing returning domain_id`;

const LOCK_WHOIS = `
  select t.place, w.ts, w.created_ts, w.expires_ts, w.registrar
  from unnest($1::bigint[]) with ordinality as t (domain_id, place) join domain_whois w on w.domain_id = t.domain_id
  order by t.place for update of w`;

type LockedWhois = [
  place: number,
  ts: number,
  createdTs: number | null,
  expiresTs: number | null,
  registrar: string | null,
];

export async function lockWhois(session: Session, rows: readonly WithIds<WhoisRow>[]) {
  if (rows.length === 0) return { added: [], stored: [] };
  const given = columns(5, rows, whoisColumns);
  const [added, stored] = await inOrder([
    () => session.query<[domainId: number]>(ADD_WHOIS, given),
    () => session.query<LockedWhois>(LOCK_WHOIS, given.slice(0, 1)),
  ]);
  return { added, stored };
}

const UPDATE_WHOIS = `
  update domain_whois w set ts = t.ts, created_ts = t.created_ts, expires_ts = t.expires_ts, registrar = t.registrar
  from ${GIVEN_WHOIS} where w.domain_id = t.domain_id`;

export async function updateWhois(
  session: Session,
  rows: readonly WithIds<WhoisRow>[],
  stored: readonly LockedWhois[],
  record: (domainId: number) => void,
): Promise<number> {
  const changed = stored.flatMap(([place, ts, createdTs, expiresTs, registrar]) => {
    const { ids, row } = rows[place - 1] as WithIds<WhoisRow>;
    const old = { domain: row.domain, ts, createdTs, expiresTs, registrar };
    return mergeWhois(old, row) === old ? [] : [{ ids, row }];
  });
  for (const { ids } of changed) record(ids[0] as number);
  return runRows(session, UPDATE_WHOIS, changed, whoisColumns);
}

function whoisColumns({ ids, row: { ts, createdTs, expiresTs, registrar } }: WithIds<WhoisRow>): Scalar[] {
  return [...ids, ts, createdTs, expiresTs, registrar];
}

// A row that was updated has the number of the transaction that locked it.
const IS_NEW = 'xmax = 0';

const PUT_ADDRESSES = `
  insert into name_addresses as a (domain_id, host_id, ip, day, origin, ts)
  select t.domain_id, t.host_id, t.ip, t.day, 1, t.ts
  from unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::integer[], $5::bigint[]) as t (domain_id, host_id, ip, day, ts)
  order by t.domain_id, t.host_id, t.ip, t.day
  on conflict (domain_id, host_id, ip, day, origin) do update set ts = excluded.ts where excluded.ts > a.ts
  returning domain_id, ${IS_NEW}`;

const PUT_SERVERS = `
  insert into name_servers as n (domain_id, ns_host_id, day, ts)
  select * from unnest($1::bigint[], $2::bigint[], $3::integer[], $4::bigint[]) as t (domain_id, ns_host_id, day, ts)
  order by t.domain_id, t.ns_host_id, t.day
  on conflict (domain_id, ns_host_id, day) do update set ts = excluded.ts where excluded.ts > n.ts
  returning domain_id, ${IS_NEW}`;

const PUT_SENDERS = `
  insert into senders as s (domain_id, ip, helo, ts)
  select * from unnest($1::bigint[], $2::bytea[], $3::text[], $4::bigint[]) as t (domain_id, ip, helo, ts)
  order by t.domain_id, t.ip, t.helo collate "C"
  on conflict (domain_id, ip, helo) do update set ts = excluded.ts where excluded.ts > s.ts
  returning domain_id, ${IS_NEW}`;

// As `mergeRank`.
const PUT_RANKS = `
  insert into name_lists as l (name, kind, source_id, rank, ts)
  select t.name, ${NAME_LIST_KINDS.indexOf('popular')}, t.source_id, t.rank, t.ts
  from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) as t (name, source_id, rank, ts)
  where ${isOfNewestVersion('t')}
  order by t.name collate "C", t.source_id
  on conflict (name, kind, source_id) do update set rank = excluded.rank, ts = excluded.ts
  where excluded.ts > l.ts or excluded.ts = l.ts and (l.rank is null or excluded.rank < l.rank)
  returning null::bigint, false`;

type PutRow = [domainId: number | null, isNew: boolean];

/** Facts of which the newest counts: one statement for each table. Returns how many rows changed, and the domains of new ones. */
export async function putFacts(session: Session, { addresses, servers, senders, ranks }: FactRows, ids: TextIds) {
  const putRows = <Row>(sql: string, rows: readonly Row[], count: number, rowOf: (row: Row) => Scalar[]) =>
    rows.length === 0 ? [] : session.query<PutRow>(sql, columns(count, rows, rowOf));
  const changed = await Promise.all([
    putRows(PUT_ADDRESSES, addresses, 5, ({ name, ip, day, ts }) => {
      return [idOf(ids.domains, name.domain), idOf(ids.hosts, name.hostname), ip, day, ts];
    }),
    putRows(PUT_SERVERS, servers, 4, ({ domain, server, day, ts }) => {
      return [idOf(ids.domains, domain), idOf(ids.hosts, server.hostname), day, ts];
    }),
    putRows(PUT_SENDERS, senders, 4, ({ domain, ip, helo, ts }) => [idOf(ids.domains, domain), ip, helo, ts]),
    putRows(PUT_RANKS, ranks, 4, ({ domain, source, rank, ts }) => [domain, idOf(ids.sources, source), rank, ts]),
  ]);
  const put = changed.flat();
  return {
    changed: put.length,
    domainIds: put.flatMap(([domainId, isNew]) => (isNew && domainId !== null ? [domainId] : [])),
  };
}
