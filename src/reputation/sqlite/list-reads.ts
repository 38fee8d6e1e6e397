import { setImmediate } from 'node:timers/promises';
import { keyRanges } from '../../core/ip/key-network.ts';
import type { Database } from '../../database/sqlite/database.ts';
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
import type { ListingKey, ReadsForLists, StoredListing } from '../store.ts';
import { createDerivedListings } from './derived.ts';
import { createReadState } from './domain-state.ts';

/** Rows or ids of one statement: it takes at most 0.1 s, on a thread that answers no requests. */
const ROWS_PER_READ = 20_000;

const END_OF_READ = `
  select ${EPISODE_KEY} from episodes e
  where (${EPISODE_KEY}) > (?, ?, ?, ?, ?, ?, ?)
  order by ${EPISODE_KEY} limit 1 offset ${ROWS_PER_READ - 1}`;

const EPISODES = `
  select ${EPISODE_COLUMNS} from episodes e ${EPISODE_JOINS}
  where (${EPISODE_KEY}) > (?, ?, ?, ?, ?, ?, ?) and (${EPISODE_KEY}) <= (?, ?, ?, ?, ?, ?, ?)
    and e.dataset in (select value from json_each(?)) and e.seen_ts >= ?`;

const LAST_IDS = 'select (select max(id) from urls), (select max(id) from hosts), (select max(id) from domains)';

const ONLINE_ADDRESSES = `
  select distinct h.ip from urls u indexed by urls_online join hosts h on h.id = u.host_id
  where u.event_kind < ${FIRST_OFFLINE_KIND} and u.event_kind in (0, 1) and u.id > ? and u.id <= ? and h.ip is not null
    and (select max(confirmed_ts) from events where url_id = u.id and (ts, kind) >= (u.event_ts, u.event_kind)) >= ?`;

const ADDRESSES_WITH_EVENTS = `
  select h.ip from hosts h where h.id > ? and h.id <= ? and h.ip is not null
    and exists (select 1 from events where host_id = h.id and kind < ${FIRST_HIDDEN_KIND} and ts >= ?)`;

const SEEN = SEEN_TABLES.map(
  ([table, column]) => `exists (select 1 from ${table} where domain_id = d.id and ${column} >= ?3)`,
);
const DOMAINS = `
  select d.name from domains d where d.id > ?1 and d.id <= ?2 and (${SEEN.join(' or ')}
    or exists (select 1 from domain_settings where domain_id = d.id and human <= ${LISTED_FROM}))`;

const NAME_LISTS = `
  select l.name, l.kind, sources.name, l.rank, l.ts from name_lists l join sources on sources.id = l.source_id
  where l.name in (select value from json_each(?))`;

const NAME_LISTS_BELOW_HOSTS = `
  select l.name, l.kind, sources.name, l.rank, l.ts from name_lists l join sources on sources.id = l.source_id
  where l.rank is null and l.name like '%.%.%.%' order by l.name`;

const ANY_NAME_LIST = 'select 1 from name_lists limit 1';

const FACT_DOMAINS = `
  select distinct domain_id from (
    select domain_id from name_addresses where origin = 1 and ip >= ? and ip <= ? and ts >= ? limit ${MAX_ADDRESS_ROWS})`;

const URL_DOMAINS = `
  select distinct h.domain_id from (
    select url_id from resolutions where bucket = ? and ip >= ? and ip <= ? limit ${MAX_ADDRESS_ROWS}) r
  join urls u on u.id = r.url_id join hosts h on h.id = u.host_id where h.domain_id is not null`;

/** States and addresses that are read before the transaction ends. */
const NAMES_PER_READ = 1_000;

export function createReadsForLists(db: Database): ReadsForLists {
  const endOfRead = db.prepare<ListingKey>(END_OF_READ);
  const episodes = db.prepare<EpisodeRow>(EPISODES);
  const lastIds = db.prepare<[urls: number | null, hosts: number | null, domains: number | null]>(LAST_IDS);
  const onlineAddresses = db.prepare<[Uint8Array]>(ONLINE_ADDRESSES);
  const addressesWithEvents = db.prepare<[Uint8Array]>(ADDRESSES_WITH_EVENTS);
  const domains = db.prepare<[string]>(DOMAINS);
  const nameLists = db.prepare<NamedListRow>(NAME_LISTS);
  const nameListsBelowHosts = db.prepare<NamedListRow>(NAME_LISTS_BELOW_HOSTS);
  const anyNameList = db.prepare<[number]>(ANY_NAME_LIST);
  const factDomains = db.prepare<[number]>(FACT_DOMAINS);
  const urlDomains = db.prepare<[number]>(URL_DOMAINS);
  const derived = createDerivedListings(db);
  const readState = createReadState(db);

  function derivedOf(ip: Uint8Array, seenSinceTs: number): StoredListing[] {
    const steps = derived.read({ ip, prefix: 8 * ip.length }, seenSinceTs);
    let step = steps.next();
    while (!step.done) step = steps.next();
    return step.value;
  }

  return {
    ...createListReads(
      {
        endOfRead: (after) => endOfRead.get(...after),
        episodes: (after, last, datasets, sinceTs) =>
          episodes.all(...after, ...last, JSON.stringify(datasets), sinceTs),
        lastIds() {
          const [urls, hosts, names] = lastIds.one();
          return { urls: urls ?? 0, hosts: hosts ?? 0, domains: names ?? 0 };
        },
        onlineAddresses: (...params) => onlineAddresses.all(...params),
        addressesWithEvents: (...params) => addressesWithEvents.all(...params),
        derived: (ips, sinceTs) => ips.flatMap((ip) => derivedOf(ip, sinceTs)),
        domains: (...params) => domains.all(...params),
      },
      ROWS_PER_READ,
    ),

    domainStates: (names) => inChunks(names, (some) => some.map(readState)),

    nameLists: async (names) => listsByName(nameLists.all(JSON.stringify(names))),

    nameListsBelowHosts: async () => listsByName(nameListsBelowHosts.all()),

    hasNameLists: async () => anyNameList.get() !== undefined,

    domainsAt(networks, sinceTs, untilTs) {
      const buckets = bucketsBetween(sinceTs, untilTs);
      return inChunks(networks, (some) =>
        some.map((network) => {
          const ids = new Set<number>();
          for (const [from, to] of keyRanges(network)) {
            for (const [id] of factDomains.all(from, to, sinceTs)) ids.add(id);
            for (const bucket of buckets) for (const [id] of urlDomains.all(bucket, from, to)) ids.add(id);
          }
          return ids.size;
        }),
      );
    },
  };
}

async function inChunks<Item, Result>(
  items: readonly Item[],
  read: (some: readonly Item[]) => Result[],
): Promise<Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += NAMES_PER_READ) {
    if (from > 0) await setImmediate();
    for (const result of read(items.slice(from, from + NAMES_PER_READ))) results.push(result);
  }
  return results;
}
