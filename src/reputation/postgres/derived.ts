import { toByteText } from '../../core/byte-text.ts';
import { type KeyNetwork, keyRanges } from '../../core/ip/key-network.ts';
import type { Query } from '../../database/postgres/database.ts';
import { columns } from '../../database/postgres/parameters.ts';
import { FIRST_HIDDEN_KIND, FIRST_OFFLINE_KIND } from '../../urls/store.ts';
import { DERIVED_LIFE_SECONDS, derivedListing, MAX_PAYLOADS } from '../derived-rules.ts';
import type { StoredListing } from '../store.ts';

const HOSTS = 'select ip, id from hosts where ip >= $1 and ip <= $2';

// Runs that are no farther apart than the life are one episode, as in `mergeEpisodes`: a run begins an episode if no earlier
// one of its address reaches it. The condition on hidden kinds is that of the index.
const EPISODES = `
  with runs as (
    select h.ip, e.url_id, e.ts, e.confirmed_ts
    from unnest($1::bytea[], $2::bigint[]) as h (ip, id) join events e on e.host_id = h.id and e.kind < ${FIRST_HIDDEN_KIND} and e.kind < ${FIRST_OFFLINE_KIND}
      and e.confirmed_ts is not null),
  starts as (
    select *, coalesce(ts - max(confirmed_ts) over (
      partition by ip order by ts rows between unbounded preceding and 1 preceding) <= ${DERIVED_LIFE_SECONDS}, false)
      as is_joined
    from runs),
  numbered as (
    select *, count(*) filter (where not is_joined) over (
      partition by ip order by ts rows unbounded preceding) as episode
    from starts),
  newest as (
    select distinct on (u.ip) u.ip, p.name from (select distinct ip, url_id from runs) u
    cross join lateral (
      select p.ts, families.name from (
        select ts, family_id from payloads where url_id = u.url_id order by ts desc limit ${MAX_PAYLOADS}) p
      join families on families.id = p.family_id order by p.ts desc, families.name collate "C" desc limit 1) p
    order by u.ip, p.ts desc, p.name collate "C" desc)
  select n.ip, min(newest.name), min(n.ts), max(n.confirmed_ts)
  from numbered n left join newest on newest.ip = n.ip
  group by n.ip, n.episode having max(n.confirmed_ts) >= $3`;

type Row = [ip: Uint8Array, family: string | null, listedTs: number, seenTs: number];

const HOSTS_AT = 'select ip, id from hosts where ip = any($1::bytea[])';

async function episodesOf(
  query: Query,
  hosts: readonly [ip: Uint8Array, id: number][],
  seenSinceTs: number,
): Promise<StoredListing[]> {
  if (hosts.length === 0) return [];
  const rows = await query<Row>(EPISODES, [...columns(2, hosts, (host) => host), seenSinceTs]);
  return rows.map(([ip, family, listedTs, seenTs]) => derivedListing(ip, family, { listedTs, seenTs }));
}

/** Reads the listings of these addresses that follow from URLs. */
export function createDerivedOf(query: Query) {
  return async (ips: readonly Uint8Array[], seenSinceTs: number): Promise<StoredListing[]> =>
    episodesOf(query, await query<[ip: Uint8Array, id: number]>(HOSTS_AT, [ips]), seenSinceTs);
}

/** The same for each address, as soon as its own are read. */
export function createDerivedOfEach(query: Query) {
  return (ips: readonly Uint8Array[], seenSinceTs: number): Promise<StoredListing[]>[] => {
    const hosts = query<[ip: Uint8Array, id: number]>(HOSTS_AT, [ips]).then((found) =>
      Map.groupBy(found, ([ip]) => toByteText(ip)),
    );
    return ips.map(async (ip) => episodesOf(query, (await hosts).get(toByteText(ip)) ?? [], seenSinceTs));
  };
}

/** Reads listings that follow from URLs. Two hosts may be one address: 192.0.2.1 and [::ffff:c000:201]. */
export function createDerivedListings(query: Query) {
  return async (network: KeyNetwork, seenSinceTs: number): Promise<StoredListing[]> => {
    const ranges = keyRanges(network).map((range) => query<[ip: Uint8Array, id: number]>(HOSTS, range));
    return episodesOf(query, (await Promise.all(ranges)).flat(), seenSinceTs);
  };
}
