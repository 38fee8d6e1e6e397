import { type ByteText, toByteText } from '../../core/byte-text.ts';
import { type KeyNetwork, keyRanges } from '../../core/ip/key-network.ts';
import type { Query } from '../../database/postgres/database.ts';
import { columns } from '../../database/postgres/parameters.ts';
import { FIRST_HIDDEN_KIND, FIRST_OFFLINE_KIND } from '../../urls/store.ts';
import {
  addFamily,
  addRuns,
  DERIVED_LIFE_SECONDS,
  type DerivedProgress,
  derivedListings,
  MAX_PAYLOADS,
} from '../derived-rules.ts';
import type { ListingQuery, StoredListing } from '../store.ts';

// A test checks the plan of every statement that this file exports (test/reputation/postgres-server.test.ts).

/** Events of one host that a statement reads: an address may have 200,000 URLs. */
const EVENTS_PER_READ = 1_000;
/** Most hosts have a few events. */
const HOSTS_PER_READ = 20;

// The last event of the next page of a host; none if the page is the last one.
const endOfPage = (hostId: string, before: string) => `
  select ts, url_id, kind from events
  where host_id = ${hostId} and kind < ${FIRST_HIDDEN_KIND} ${before}
  order by ts desc, url_id desc, kind desc limit 1 offset ${EVENTS_PER_READ - 1}`;

const HOSTS = `
  select h.ip, h.id, e.ts, e.url_id, e.kind from hosts h left join lateral (${endOfPage('h.id', '')}) e on true`;

export const HOSTS_IN = `${HOSTS} where h.ip >= $1 and h.ip <= $2`;

export const HOSTS_AT = `${HOSTS} where h.ip = any($1::bytea[])`;

export const ENDS = `
  select h.ip, h.id, e.ts, e.url_id, e.kind
  from unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bigint[], $5::smallint[]) as h (ip, id, ts, url_id, kind)
  left join lateral (${endOfPage('h.id', 'and (ts, url_id, kind) < (h.ts, h.url_id, h.kind)')}) e on true`;

// The runs of one page of each host: as episodes, and with the newest family of those of its URLs that may have a newer one
// than the pages before. Runs that are no farther apart than the life are one episode, as in `mergeEpisodes`: a run begins an
// episode if no earlier one of its address reaches it. The condition on hidden kinds is that of the index.
const EPISODES = `
  with runs as (
    select h.ip, h.family_ts, e.url_id, e.ts, e.confirmed_ts
    from unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bigint[], $5::smallint[], $6::bigint[], $7::bigint[],
        $8::smallint[], $9::bigint[])
      as h (ip, id, end_ts, end_url_id, end_kind, before_ts, before_url_id, before_kind, family_ts)
    join events e on e.host_id = h.id and e.kind < ${FIRST_HIDDEN_KIND} and e.kind < ${FIRST_OFFLINE_KIND}
      and (e.ts, e.url_id, e.kind) >= (h.end_ts, h.end_url_id, h.end_kind)
      and (e.ts, e.url_id, e.kind) < (h.before_ts, h.before_url_id, h.before_kind)
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
    select distinct on (r.ip) r.ip, p.ts, p.name
    from (select distinct ip, family_ts, url_id from runs) r
    join urls u on u.id = r.url_id and u.payload_ts >= r.family_ts
    cross join lateral (
      select p.ts, families.name from (
        select ts, family_id from payloads where url_id = u.id order by ts desc limit ${MAX_PAYLOADS}) p
      join families on families.id = p.family_id order by p.ts desc, families.name collate "C" desc limit 1) p
    order by r.ip, p.ts desc, p.name collate "C" desc)
  select n.ip, min(newest.ts), min(newest.name), min(n.ts), max(n.confirmed_ts)
  from numbered n left join newest on newest.ip = n.ip
  group by n.ip, n.episode`;

type EventKey = [ts: number, urlId: number, kind: number];
const FIRST_EVENT: EventKey = [Number.MAX_SAFE_INTEGER, 0, 0];
const LAST_EVENT: EventKey = [0, 0, 0];

/** A host and the end of its next page. */
type HostRow = [ip: Uint8Array, id: number, ...(EventKey | [null, null, null])];
type EpisodeRow = [ip: Uint8Array, familyTs: number | null, family: string | null, listedTs: number, seenTs: number];

/** The next page of a host: events before `before`, down to `end`; null: all. */
type Page = { ip: Uint8Array; id: number; before: EventKey; end: EventKey | null };

const pageOf = ([ip, id, ...end]: HostRow, before: EventKey): Page => {
  return { ip, id, before, end: end[0] === null ? null : end };
};

type Bounds = Pick<ListingQuery, 'seenSinceTs' | 'signal'>;

/** Reads the timelines of these hosts, newest first, and adds up what they show of each address. */
async function derivedOf(
  query: Query,
  hosts: readonly HostRow[],
  { seenSinceTs, signal }: Bounds,
): Promise<StoredListing[]> {
  const found = new Map<ByteText, DerivedProgress>();
  for (const [ip] of hosts) found.set(toByteText(ip), { ip, episodes: [], family: null });
  const progressOf = (ip: Uint8Array) => found.get(toByteText(ip)) as DerivedProgress;

  async function addPages(pages: readonly Page[]): Promise<void> {
    const rows = await query<EpisodeRow>(
      EPISODES,
      columns(9, pages, ({ ip, id, before, end }) => {
        return [ip, id, ...(end ?? LAST_EVENT), ...before, progressOf(ip).family?.ts ?? 0];
      }),
    );
    for (const [ip, familyTs, family, listedTs, seenTs] of rows) {
      addRuns(progressOf(ip), [{ listedTs, seenTs }]);
      if (familyTs !== null && family !== null) addFamily(progressOf(ip), familyTs, family);
    }
  }

  async function pagesAfter(pages: readonly Page[]): Promise<Page[]> {
    const ends = new Map(pages.flatMap(({ id, end }) => (end === null ? [] : [[id, end]])));
    if (ends.size === 0) return [];
    const given = pages.filter(({ end }) => end !== null);
    const rows = await query<HostRow>(
      ENDS,
      columns(5, given, ({ ip, id, end }) => [ip, id, ...(end ?? LAST_EVENT)]),
    );
    return rows.map((row) => pageOf(row, ends.get(row[1]) as EventKey));
  }

  for (let left = hosts.map((host) => pageOf(host, FIRST_EVENT)); left.length > 0; ) {
    signal?.throwIfAborted();
    const pages = left.slice(0, HOSTS_PER_READ);
    const [next] = await Promise.all([pagesAfter(pages), addPages(pages)]);
    left = [...next, ...left.slice(HOSTS_PER_READ)];
  }
  return [...found.values()].flatMap((progress) => derivedListings(progress, seenSinceTs));
}

/** Reads the listings of these addresses that follow from URLs. */
export function createDerivedOf(query: Query) {
  return async (ips: readonly Uint8Array[], seenSinceTs: number): Promise<StoredListing[]> =>
    derivedOf(query, await query<HostRow>(HOSTS_AT, [ips]), { seenSinceTs });
}

/** The same for each address, as soon as its own are read. */
export function createDerivedOfEach(query: Query) {
  return (asked: readonly Pick<ListingQuery, 'network' | keyof Bounds>[]): Promise<StoredListing[]>[] => {
    const ips = asked.map(({ network }) => network.ip);
    const hosts = query<HostRow>(HOSTS_AT, [ips]).then((found) => Map.groupBy(found, ([ip]) => toByteText(ip)));
    return asked.map(async ({ network, ...bounds }) =>
      derivedOf(query, (await hosts).get(toByteText(network.ip)) ?? [], bounds),
    );
  };
}

/** Reads listings that follow from URLs. Two hosts may be one address: 192.0.2.1 and [::ffff:c000:201]. */
export function createDerivedListings(query: Query) {
  return async (network: KeyNetwork, bounds: Bounds): Promise<StoredListing[]> => {
    const ranges = keyRanges(network).map((range) => query<HostRow>(HOSTS_IN, range));
    return derivedOf(query, (await Promise.all(ranges)).flat(), bounds);
  };
}
