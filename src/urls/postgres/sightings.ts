import { toByteText } from '../../core/byte-text.ts';
import { dayOf } from '../../core/time.ts';
import type { Session } from '../../database/postgres/database.ts';
import { inOrder } from '../../database/postgres/lock-order.ts';
import { columns, runRows, unnested } from '../../database/postgres/parameters.ts';
import type { OnlineSpan } from '../sighting-rules.ts';

/** A URL that was seen online, and whose host has a domain. `isNewUrl`: this transaction adds it. */
type Sighting = { urlId: number; isNewUrl: boolean; hostId: number; domainId: number; span: OnlineSpan };

type HostAddress = { domainId: number; hostId: number; ip: Uint8Array; ts: number };

/**
 * What the domains of URLs learn from a batch. The domains of the hosts cannot change meanwhile, because a rebuild waits for
 * batches (reputation/postgres/rebuild.ts).
 */
export type Sightings = { online: Sighting[]; addresses: HostAddress[] };

// For URLs that this transaction adds.
const ADD_SIGHTINGS = `
  insert into url_sightings (url_id, domain_id, host_id, online_ts)
  select ${unnested('bigint', 'bigint', 'bigint', 'bigint')}`;

const PUT_SIGHTINGS = `${ADD_SIGHTINGS}
  on conflict (url_id) do update set online_ts = excluded.online_ts
    where excluded.online_ts > url_sightings.online_ts`;

// Usually none: a new domain is added with its first sighting.
const LOCK_DOMAINS = `
  select count(*) from (
    select 1 from domains where id = any(array(
      select d.id from unnest($1::bigint[], $2::bigint[]) as g (id, ts) join domains d on d.id = g.id
      where d.first_url_ts is null or d.first_url_ts > g.ts))
    order by id for no key update) l`;

const SET_FIRST = `
  update domains d set first_url_ts = g.ts from unnest($1::bigint[], $2::bigint[]) as g (id, ts)
  where d.id = g.id and (d.first_url_ts is null or d.first_url_ts > g.ts)`;

// origin 0: from URLs. Rows that are new enough are filtered out first, because `on conflict` would lock them.
const PUT_ADDRESSES = `
  insert into name_addresses (domain_id, host_id, ip, day, origin, ts)
  select g.domain_id, g.host_id, g.ip, g.day, 0, g.ts
  from unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::integer[], $5::bigint[]) as g (domain_id, host_id, ip, day, ts)
  where not exists (
    select 1 from name_addresses n where n.domain_id = g.domain_id and n.host_id = g.host_id and n.ip = g.ip
      and n.day = g.day and n.origin = 0 and n.ts >= g.ts)
  on conflict (domain_id, host_id, ip, day, origin) do update set ts = excluded.ts
    where excluded.ts > name_addresses.ts`;

/**
 * Writes what a batch says about domains. Other batches may have the same hosts, so rows are written in one order: URLs by
 * id, domains by id, addresses by host, address and day. `added`: ids of the domains that this transaction has added.
 */
export async function putSightings(
  session: Session,
  { online, addresses }: Sightings,
  added: ReadonlySet<number>,
): Promise<void> {
  const { true: newUrls = [], false: known = [] } = Object.groupBy(online, (one) => `${one.isNewUrl}` as const);
  const times = firstTimes(online, added);
  const first = columns(2, times, (row) => row);
  const names = newestOfDays(addresses);
  const put = (sql: string, sightings: readonly Sighting[]) =>
    runRows(session, sql, sightings, ({ urlId, domainId, hostId, span }) => [urlId, domainId, hostId, span.lastTs]);
  known.sort((a, b) => a.urlId - b.urlId);
  await inOrder([
    () => put(ADD_SIGHTINGS, newUrls),
    () => put(PUT_SIGHTINGS, known),
    async () => times.length > 0 && session.query(LOCK_DOMAINS, first),
    async () => times.length > 0 && session.run(SET_FIRST, first),
    () =>
      runRows(session, PUT_ADDRESSES, names, ({ domainId, hostId, ip, ts }) => [domainId, hostId, ip, dayOf(ts), ts]),
  ]);
}

/** The earliest sighting in each domain. A domain was added with the first sighting of its new URLs. */
function firstTimes(online: readonly Sighting[], added: ReadonlySet<number>): [domainId: number, ts: number][] {
  const first = new Map<number, number>();
  for (const { domainId, isNewUrl, span } of online) {
    if (isNewUrl && added.has(domainId)) continue;
    first.set(domainId, Math.min(span.firstTs, first.get(domainId) ?? span.firstTs));
  }
  return [...first];
}

/** One row per host, address and day, in order of key. */
function newestOfDays(addresses: readonly HostAddress[]): HostAddress[] {
  const newest = new Map<string, HostAddress>();
  for (const address of addresses) {
    const { hostId, ip, ts } = address;
    const key = `${hostId} ${dayOf(ts)} ${toByteText(ip)}`;
    if ((newest.get(key)?.ts ?? -1) < ts) newest.set(key, address);
  }
  return [...newest.values()].sort(
    (a, b) => a.hostId - b.hostId || Buffer.compare(a.ip, b.ip) || dayOf(a.ts) - dayOf(b.ts),
  );
}
