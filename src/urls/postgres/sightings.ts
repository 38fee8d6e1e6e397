import { toByteText } from '../../core/byte-text.ts';
import type { Session } from '../../database/postgres/database.ts';
import { inOrder } from '../../database/postgres/lock-order.ts';
import { columns } from '../../database/postgres/parameters.ts';
import { dayOf } from '../resolution-rules.ts';
import type { OnlineSpan } from '../sighting-rules.ts';

/** A URL that was seen online. */
type Sighting = { urlId: number; hostId: number; span: OnlineSpan };

type HostAddress = { hostId: number; ip: Uint8Array; ts: number };

/**
 * What the domains of URLs learn from a batch. The statements find the domains of the hosts: most batches of known URLs
 * change nothing here. They cannot change meanwhile, because a rebuild waits for batches (reputation/postgres/rebuild.ts).
 */
export type Sightings = { online: Sighting[]; addresses: HostAddress[] };

const PUT_SIGHTINGS = `
  insert into url_sightings (url_id, domain_id, host_id, online_ts)
  select g.url_id, h.domain_id, g.host_id, g.ts
  from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as g (url_id, host_id, ts)
  join hosts h on h.id = g.host_id where h.domain_id is not null
  on conflict (url_id) do update set online_ts = excluded.online_ts
    where excluded.online_ts > url_sightings.online_ts`;

const OF_HOSTS = `
  from unnest($1::bigint[], $2::bigint[]) as g (host_id, ts) join hosts h on h.id = g.host_id`;

// Usually none: a new domain is added with its first sighting.
const LOCK_DOMAINS = `
  select count(*) from (
    select 1 from domains where id = any(array(
      select d.id ${OF_HOSTS} join domains d on d.id = h.domain_id
      where d.first_url_ts is null or d.first_url_ts > g.ts))
    order by id for no key update) l`;

const SET_FIRST = `
  update domains d set first_url_ts = g.ts
  from (select h.domain_id, min(g.ts) as ts ${OF_HOSTS} group by h.domain_id) g
  where d.id = g.domain_id and (d.first_url_ts is null or d.first_url_ts > g.ts)`;

// origin 0: from URLs. Rows that are new enough are filtered out first, because `on conflict` would lock them.
const PUT_ADDRESSES = `
  insert into name_addresses (domain_id, host_id, ip, day, origin, ts)
  select h.domain_id, g.host_id, g.ip, g.day, 0, g.ts
  from unnest($1::bigint[], $2::bytea[], $3::integer[], $4::bigint[]) as g (host_id, ip, day, ts)
  join hosts h on h.id = g.host_id
  where h.domain_id is not null and not exists (
    select 1 from name_addresses n where n.domain_id = h.domain_id and n.host_id = g.host_id and n.ip = g.ip
      and n.day = g.day and n.origin = 0 and n.ts >= g.ts)
  on conflict (domain_id, host_id, ip, day, origin) do update set ts = excluded.ts
    where excluded.ts > name_addresses.ts`;

/**
 * Writes what a batch says about domains. Other batches may have the same hosts, so rows are written in one order: URLs by
 * id, domains by id, addresses by host, address and day.
 */
export async function putSightings(session: Session, { online, addresses }: Sightings): Promise<void> {
  const sightings = online.toSorted((a, b) => a.urlId - b.urlId);
  const first = columns(2, firstTimes(online), (row) => row);
  const names = newestOfDays(addresses);
  await inOrder([
    async () =>
      sightings.length > 0 &&
      session.run(
        PUT_SIGHTINGS,
        columns(3, sightings, ({ urlId, hostId, span }) => [urlId, hostId, span.lastTs]),
      ),
    async () => sightings.length > 0 && session.query(LOCK_DOMAINS, first),
    async () => sightings.length > 0 && session.run(SET_FIRST, first),
    async () =>
      names.length > 0 &&
      session.run(
        PUT_ADDRESSES,
        columns(4, names, ({ hostId, ip, ts }) => [hostId, ip, dayOf(ts), ts]),
      ),
  ]);
}

/** The earliest sighting on each host. */
function firstTimes(online: readonly Sighting[]): [hostId: number, ts: number][] {
  const first = new Map<number, number>();
  for (const { hostId, span } of online) {
    first.set(hostId, Math.min(span.firstTs, first.get(hostId) ?? span.firstTs));
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
