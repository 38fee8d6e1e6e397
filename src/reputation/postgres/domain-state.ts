import { compareTexts } from '../../core/text.ts';
import type { Query } from '../../database/postgres/database.ts';
import { FIRST_HIDDEN_KIND } from '../../urls/store.ts';
import {
  abusedClaim,
  compareEvidence,
  compareHostnames,
  compareSenders,
  compareSightings,
  type EvidenceColumns,
  evidenceRows,
  isKnown,
  LEAST_RANK,
  MAX_ADDRESS_DAYS,
  MAX_CHECKED_HOSTS,
  MAX_CHECKED_ROWS,
  MAX_TIED_ROWS,
  type NameListColumns,
  newestOfEach,
  type RankedColumns,
  type SettingsRow,
  type SourceColumns,
  toEvidence,
  toNameLists,
  toSettings,
  toSource,
} from '../domain-rows.ts';
import { MAX_PIECES } from '../score.ts';
import {
  type DomainState,
  MAX_DOMAIN_ADDRESSES,
  MAX_DOMAIN_URLS,
  type ReputationStore,
  type StoredEvidence,
} from '../store.ts';

// A test checks the plan of every statement that this file exports (test/reputation/postgres-server.test.ts).

// Hosts, sources and files are looked up by id in subqueries: for a join the planner may read a whole table that was small
// when the plan was made.

// The parts of the state, for the domain `d`.

const NEWEST_URLS = `
  select json_agg(json_build_array((select host from hosts where id = s.host_id), s.online_ts)) from (
    select host_id, online_ts from url_sightings where domain_id = d.id
    order by online_ts desc, url_id desc limit ${MAX_PIECES}) s`;

// A URL that was never seen online has no row in `url_sightings`, but events, or without a status perhaps a payload or
// addresses. 0 if it has nothing with a time.
const LAST_FACT = `
  case when exists (select 1 from url_sightings where domain_id = d.id) then null
  else (
    select max(greatest(
      (select ts from events where host_id = h.id and kind < ${FIRST_HIDDEN_KIND} order by ts desc limit 1),
      (select max(coalesce(
         u.payload_ts,
         (select max(ts) from (select ts from resolutions where url_id = u.id limit ${MAX_CHECKED_ROWS}) r),
         0))
       from (
         select id, payload_ts from urls where host_id = h.id and event_kind is null
         order by id desc limit ${MAX_CHECKED_ROWS}) u)))
    from (
      select id from (select id from hosts where domain_id = d.id limit ${MAX_CHECKED_HOSTS}) h
      where coalesce(
        (select true from events where host_id = h.id and kind < ${FIRST_HIDDEN_KIND} order by ts desc limit 1),
        (select true from urls where host_id = h.id and event_kind is null order by id desc limit 1))
      limit ${MAX_CHECKED_ROWS}) h) end`;

const SAME_GROUP = 'domain_id = d.id and source_id = g.source_id and kind = g.kind';

const EVIDENCE_ROW = `
  (select host from hosts where id = e.host_id), e.best_ts, e.best_confidence, e.first_ts, e.last_ts, e.details`;

// The sources and kinds of a domain take one step in the index each, however many rows they have. All rows of the rank of the
// last one that counts are read: which of them are taken must not depend on ids. Only of those with so many rows, the newest one,
// of one time that with the first name, and the newest that says that the site was broken into.
const BEST_EVIDENCE = `
  with recursive groups (source_id, kind) as (
    (select source_id, kind from domain_evidence where domain_id = d.id order by source_id, kind limit 1)
    union all
    select next.source_id, next.kind from groups g cross join lateral (
      select source_id, kind from domain_evidence
      where domain_id = d.id and (source_id, kind) > (g.source_id, g.kind) order by source_id, kind limit 1) next)
  select json_agg(json_build_array(
    (select json_build_array(name, trust_permille, life_seconds, interval_seconds) from sources where id = g.source_id),
    g.kind,
    (select json_agg(json_build_array(e.rank, ${EVIDENCE_ROW})) from (
       select * from domain_evidence where ${SAME_GROUP} and rank >= coalesce(g.last_rank, ${LEAST_RANK})
       order by rank desc, host_id desc limit ${MAX_TIED_ROWS}) e),
    case when g.last_rank is not null then (
      select json_build_array(${EVIDENCE_ROW}) from domain_evidence e
      where e.domain_id = d.id and e.source_id = g.source_id and e.kind = g.kind and e.host_id = (
        select id from hosts where host = (
          select min((select host from hosts where id = n.host_id)) from (
            select host_id from domain_evidence where ${SAME_GROUP} and last_ts = (
              select last_ts from domain_evidence where ${SAME_GROUP} order by last_ts desc limit 1)
            limit ${MAX_TIED_ROWS}) n))) end,
    case when g.last_rank is not null then (
      select last_ts from domain_evidence where ${SAME_GROUP} and strpos(details, '"abused":true') > 0
      order by last_ts desc limit 1) end))
  from (
    select source_id, kind, (
      select rank from domain_evidence where ${SAME_GROUP} order by rank desc limit 1 offset ${MAX_PIECES - 1}) as last_rank
    from groups g) g`;

const LISTS = `
  select json_agg(json_build_array(l.kind, (select name from sources where id = l.source_id), l.rank, l.ts))
  from (select * from name_lists where name = asked.name order by kind, source_id) l`;

const WHOIS = 'select json_build_array(ts, created_ts, expires_ts, registrar) from domain_whois where domain_id = d.id';

const SETTINGS =
  'select json_build_array(human, is_abused, reason, set_ts) from domain_settings where domain_id = d.id';

// One step for each host and address, however many days they have. The newest day has up to two rows, one of each origin. If there
// are too many, the newest days first: one step for each day and address, however many hosts have it.
const NEWEST_ADDRESSES = `
  with recursive pairs (host_id, ip) as (
    (select host_id, ip from name_addresses where domain_id = d.id order by host_id, ip limit 1)
    union all
    select next.host_id, next.ip from pairs p cross join lateral (
      select host_id, ip from name_addresses
      where domain_id = d.id and (host_id, ip) > (p.host_id, p.ip) order by host_id, ip limit 1) next),
  first_pairs as materialized (select * from pairs limit ${MAX_DOMAIN_ADDRESSES}),
  days (day, ip, ts) as (
    (select day, ip, ts from name_addresses where domain_id = d.id order by day desc, ip desc, ts desc limit 1)
    union all
    select next.day, next.ip, next.ts from days s cross join lateral (
      select day, ip, ts from name_addresses
      where domain_id = d.id and (day, ip, ts) < (s.day, s.ip, -1) order by day desc, ip desc, ts desc limit 1) next)
  select case when (select count(*) from first_pairs) < ${MAX_DOMAIN_ADDRESSES}
  then (
    select json_agg(json_build_array(encode(p.ip, 'hex'), (
      select max(ts) from (
        select ts from name_addresses where domain_id = d.id and host_id = p.host_id and ip = p.ip
        order by day desc, origin desc limit 2) newest)))
    from first_pairs p)
  else (
    select json_agg(json_build_array(encode(s.ip, 'hex'), s.ts))
    from (select ip, ts from days limit ${MAX_ADDRESS_DAYS}) s) end`;

// Addresses of a name server from URLs (origin 0) are those of a web site with the same name.
const SERVERS = `
  select json_agg(json_build_array((select host from hosts where id = n.ns_host_id), n.ts, n.days, (
    select json_agg(encode(ip, 'hex')) from (
      select distinct ip from name_addresses
      where domain_id = (select domain_id from hosts where id = n.ns_host_id) and host_id = n.ns_host_id and origin = 1
      order by ip limit ${MAX_DOMAIN_ADDRESSES}) a)))
  from (
    select ns_host_id, max(ts) as ts, count(*) as days from name_servers where domain_id = d.id
    group by ns_host_id order by ns_host_id limit ${MAX_DOMAIN_ADDRESSES}) n`;

const SENDERS = `
  select json_agg(json_build_array(encode(ip, 'hex'), helo, ts)) from (
    select ip, helo, ts from senders where domain_id = d.id order by ts desc, ip desc, helo desc limit ${MAX_DOMAIN_ADDRESSES}) s`;

const PARTS = `
  d.id, d.first_url_ts, ${LAST_FACT}, (${NEWEST_URLS}), (${BEST_EVIDENCE}), (${LISTS}), (${WHOIS}), (${SETTINGS}),
  (${NEWEST_ADDRESSES}), (${SERVERS}), (${SENDERS})`;

/** One statement: one round trip, one replica, and all parts of one moment. */
export const STATE = `
  select ${PARTS} from (select $1::text as name) asked left join domains d on d.name = asked.name`;

/** The states of many domains, for lists: a round trip for each would take longer than everything else. */
const STATES = `
  select ${PARTS} from unnest($1::text[]) with ordinality as asked (name, place)
  left join domains d on d.name = asked.name order by asked.place`;

/** Domains of one statement. */
const STATES_PER_READ = 200;

type EvidenceGroup = [
  source: SourceColumns,
  kind: number,
  rows: RankedColumns[],
  newest: EvidenceColumns | null,
  claimTs: number | null,
];

type StateRow = [
  id: number | null,
  firstUrlTs: number | null,
  lastFactTs: number | null,
  urls: [hostname: string, onlineTs: number][] | null,
  evidence: EvidenceGroup[] | null,
  lists: NameListColumns[] | null,
  whois: [ts: number, createdTs: number | null, expiresTs: number | null, registrar: string | null] | null,
  settings: SettingsRow | null,
  addresses: [ip: string, lastTs: number][] | null,
  servers: [hostname: string, lastTs: number, days: number, ips: string[] | null][] | null,
  senders: [ip: string, helo: string, lastTs: number][] | null,
];

export function createDomainState(read: Query): ReputationStore['domainState'] {
  return async (name) => {
    const [row] = (await read<StateRow>(STATE, [name])) as [StateRow];
    const state = toState(name, row);
    if (!isKnown(state)) return null;
    state.evidenceHosts = await evidenceHosts(read, state);
    return state;
  };
}

export function createDomainStates(query: Query): ReputationStore['domainStates'] {
  return async (names) => {
    const states: (DomainState | null)[] = [];
    for (let from = 0; from < names.length; from += STATES_PER_READ) {
      const some = names.slice(from, from + STATES_PER_READ);
      const rows = await query<StateRow>(STATES, [some]);
      for (const [i, row] of rows.entries()) {
        const state = toState(some[i] as string, row);
        const isUsed = isKnown(state);
        if (isUsed) state.evidenceHosts = await evidenceHosts(query, state);
        states.push(isUsed ? state : null);
      }
    }
    return states;
  };
}

function toState(name: string, row: StateRow): DomainState {
  const [id, firstUrlTs, lastFactTs, urlRows, evidence, lists, whois, settings, addresses, servers, senders] = row;
  const urls = (urlRows ?? []).map(([hostname, onlineTs]) => ({ hostname, onlineTs })).sort(compareSightings);
  const pieces = evidenceOf(evidence ?? []);
  const claims = (evidence ?? []).flatMap(([source, , , , lastTs]) =>
    lastTs === null ? [] : [{ source: toSource(source), lastTs }],
  );
  return {
    id: id ?? 0,
    name,
    urls,
    firstUrlTs,
    lastUrlTs: urls[0]?.onlineTs ?? lastFactTs,
    evidence: pieces,
    abusedClaim: abusedClaim(pieces, claims),
    evidenceHosts: [],
    lists: toNameLists(lists ?? []),
    whois: whois && { ts: whois[0], createdTs: whois[1], expiresTs: whois[2], registrar: whois[3] },
    settings: settings && toSettings(settings),
    addresses: newestOfEach((addresses ?? []).map(([ip, ts]) => [bytesOf(ip), ts])),
    servers: (servers ?? [])
      .map(([hostname, lastTs, days, ips]) => ({ hostname, lastTs, days, ips: (ips ?? []).map(bytesOf) }))
      .sort(compareHostnames),
    senders: (senders ?? []).map(([ip, helo, lastTs]) => ({ ip: bytesOf(ip), helo, lastTs })).sort(compareSenders),
  };
}

function evidenceOf(groups: readonly EvidenceGroup[]): StoredEvidence[] {
  return groups
    .flatMap(([source, kind, rows, newest]) =>
      evidenceRows(rows, newest).map((row) => toEvidence(toSource(source), kind, row)),
    )
    .sort(compareEvidence);
}

function bytesOf(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex, 'hex'));
}

// Of very many hosts the most have no URL, so the newest URLs are checked instead.
export const OTHER_HOST = `
  select case when (select count(*) from (select 1 from hosts where domain_id = $1 limit ${MAX_CHECKED_HOSTS}) h) < ${MAX_CHECKED_HOSTS}
  then (
    select min(h.host) from (select id, host from hosts where domain_id = $1 and host <> $2 limit ${MAX_CHECKED_HOSTS}) h
    where exists (
      select 1 from (
        select url_id from events where host_id = h.id and kind < ${FIRST_HIDDEN_KIND}
        order by ts desc limit ${MAX_CHECKED_ROWS}) e
      where (select true from url_sightings where url_id = e.url_id)))
  else (
    select (select host from hosts where id = s.host_id) from (
      select host_id from url_sightings where domain_id = $1 order by online_ts desc, url_id desc limit ${MAX_DOMAIN_URLS}) s
    where s.host_id <> (select id from hosts where host = $2) limit 1) end`;

/** Two of the host names that have evidence, if there are two. */
async function evidenceHosts(read: Query, { id, urls, evidence }: DomainState): Promise<string[]> {
  const names = new Set([...urls, ...evidence].map(({ hostname }) => hostname));
  const [only] = names;
  // Fewer URLs than this are all URLs; as many evidence of one source and kind have as many host names.
  if (only !== undefined && names.size === 1 && urls.length === MAX_PIECES) {
    const [row] = await read<[string | null]>(OTHER_HOST, [id, only]);
    if (row?.[0] != null) names.add(row[0]);
  }
  return [...names].sort(compareTexts).slice(0, 2);
}
