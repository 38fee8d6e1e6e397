import { keyRanges } from '../../core/ip/key-network.ts';
import type { Query } from '../../database/postgres/database.ts';
import { columns } from '../../database/postgres/parameters.ts';
import { FIRST_HIDDEN_KIND, FIRST_OFFLINE_KIND } from '../../urls/store.ts';
import {
  bucketsBetween,
  createListReads,
  listsByName,
  MAX_ADDRESS_ROWS,
  type NamedListRow,
  SEEN_TABLES,
} from '../list-reads.ts';
import { EPISODE_COLUMNS, EPISODE_JOINS, EPISODE_KEY, type EpisodeRow } from '../listing-rows.ts';
import { LISTED_FROM } from '../score.ts';
import type { ListingKey, ReadsForLists } from '../store.ts';
import { createDerivedOf } from './derived.ts';
import { createDomainStates } from './domain-state.ts';

/** Rows or ids of one statement. */
const ROWS_PER_READ = 50_000;

const END_OF_READ = `
  select ${EPISODE_KEY} from episodes e
  where (${EPISODE_KEY}) > ($1, $2, $3, $4, $5, $6, $7)
  order by ${EPISODE_KEY} limit 1 offset ${ROWS_PER_READ - 1}`;

const EPISODES = `
  select ${EPISODE_COLUMNS} from episodes e ${EPISODE_JOINS}
  where (${EPISODE_KEY}) > ($1, $2, $3, $4, $5, $6, $7) and (${EPISODE_KEY}) <= ($8, $9, $10, $11, $12, $13, $14)
    and e.dataset = any($15::smallint[]) and e.seen_ts >= $16`;

const LAST_IDS = `
  select coalesce((select max(id) from urls), 0), coalesce((select max(id) from hosts), 0),
    coalesce((select max(id) from domains), 0)`;

const ONLINE_ADDRESSES = `
  select distinct h.ip from urls u join hosts h on h.id = u.host_id
  where u.event_kind < ${FIRST_OFFLINE_KIND} and u.id > $1 and u.id <= $2 and h.ip is not null
    and (select max(confirmed_ts) from events where url_id = u.id and (ts, kind) >= (u.event_ts, u.event_kind)) >= $3`;

const ADDRESSES_WITH_EVENTS = `
  select h.ip from hosts h where h.id > $1 and h.id <= $2 and h.ip is not null
    and exists (select 1 from events where host_id = h.id and kind < ${FIRST_HIDDEN_KIND} and ts >= $3)`;

const SEEN = SEEN_TABLES.map(
  ([table, column]) => `exists (select 1 from ${table} where domain_id = d.id and ${column} >= $3)`,
);
const DOMAINS = `
  select d.name from domains d where d.id > $1 and d.id <= $2 and (${SEEN.join(' or ')}
    or exists (select 1 from domain_settings where domain_id = d.id and human <= ${LISTED_FROM}))`;

const NAME_LISTS = `
  select l.name, l.kind, sources.name, l.rank, l.ts from name_lists l join sources on sources.id = l.source_id
  where l.name = any($1::text[])`;

const NAME_LISTS_BELOW_HOSTS = `
  select l.name, l.kind, sources.name, l.rank, l.ts from name_lists l join sources on sources.id = l.source_id
  where l.rank is null and l.name like '%.%.%.%' order by l.name`;

const ANY_NAME_LIST = 'select 1 from name_lists limit 1';

// One range of addresses for each row of the arrays; $1 is the place of the network that it belongs to.
const DOMAINS_AT = `
  select n.place, count(distinct d.domain_id)::integer
  from unnest($1::integer[], $2::bytea[], $3::bytea[]) as n (place, first, last)
  cross join lateral (
    (select domain_id from name_addresses
      where origin = 1 and ip >= n.first and ip <= n.last and ts >= $4 limit ${MAX_ADDRESS_ROWS})
    union all
    select h.domain_id from unnest($5::integer[]) as b (bucket) cross join lateral (
      select url_id from resolutions
      where bucket = b.bucket and ip >= n.first and ip <= n.last limit ${MAX_ADDRESS_ROWS}) r
    join urls u on u.id = r.url_id join hosts h on h.id = u.host_id where h.domain_id is not null) d
  group by n.place`;

/** Addresses of one statement. */
const NETWORKS_PER_READ = 1_000;

export function createReadsForLists(query: Query): ReadsForLists {
  return {
    ...createListReads(
      {
        endOfRead: async (after) => (await query<ListingKey>(END_OF_READ, [...after]))[0],
        episodes: (after, last, datasets, sinceTs) =>
          query<EpisodeRow>(EPISODES, [...after, ...last, datasets, sinceTs]),
        async lastIds() {
          const [row] = await query<[urls: number, hosts: number, domains: number]>(LAST_IDS);
          const [urls, hosts, domains] = row ?? [0, 0, 0];
          return { urls, hosts, domains };
        },
        onlineAddresses: (...params) => query<[Uint8Array]>(ONLINE_ADDRESSES, params),
        addressesWithEvents: (...params) => query<[Uint8Array]>(ADDRESSES_WITH_EVENTS, params),
        derived: createDerivedOf(query),
        domains: (...params) => query<[string]>(DOMAINS, params),
      },
      ROWS_PER_READ,
    ),

    domainStates: createDomainStates(query),

    nameLists: async (names) => listsByName(await query<NamedListRow>(NAME_LISTS, [names])),

    nameListsBelowHosts: async () => listsByName(await query<NamedListRow>(NAME_LISTS_BELOW_HOSTS)),

    hasNameLists: async () => (await query<[number]>(ANY_NAME_LIST)).length > 0,

    async domainsAt(networks, sinceTs, untilTs) {
      const counts = networks.map(() => 0);
      for (let from = 0; from < networks.length; from += NETWORKS_PER_READ) {
        const ranges = networks
          .slice(from, from + NETWORKS_PER_READ)
          .flatMap((network, i) => keyRanges(network).map(([first, last]) => [from + i, first, last]));
        const places = columns(3, ranges, (range) => range);
        const rows = await query<[place: number, count: number]>(DOMAINS_AT, [
          ...places,
          sinceTs,
          bucketsBetween(sinceTs, untilTs),
        ]);
        for (const [place, count] of rows) counts[place] = (counts[place] ?? 0) + count;
      }
      return counts;
    },
  };
}
