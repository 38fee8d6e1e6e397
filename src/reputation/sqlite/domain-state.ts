import { compareTexts } from '../../core/text.ts';
import type { Database } from '../../database/sqlite/database.ts';
import { FIRST_HIDDEN_KIND } from '../../urls/store.ts';
import {
  abusedClaim,
  compareEvidence,
  compareHostnames,
  compareSenders,
  compareSightings,
  EMPTY_STATE,
  EVIDENCE_COLUMNS,
  type EvidenceClaim,
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
  type SeenAddressRow,
  SOURCE_COLUMNS,
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
  type StoredEvidence,
  type UrlSighting,
} from '../store.ts';

const NO_ADDRESS = new Uint8Array(0);

/** One statement says which other tables have rows of the domain: each of these statements costs more than its result. */
const DOMAIN = `
  select d.id, d.first_url_ts, w.ts, w.created_ts, w.expires_ts, w.registrar, s.human, s.is_abused, s.reason, s.set_ts,
    exists (select 1 from domain_evidence where domain_id = d.id),
    exists (select 1 from name_addresses where domain_id = d.id),
    exists (select 1 from name_servers where domain_id = d.id),
    exists (select 1 from senders where domain_id = d.id)
  from domains d left join domain_whois w on w.domain_id = d.id left join domain_settings s on s.domain_id = d.id
  where d.name = ?`;

type DomainRow = [
  id: number,
  firstUrlTs: number | null,
  whoisTs: number | null,
  createdTs: number | null,
  expiresTs: number | null,
  registrar: string | null,
  human: number | null,
  isAbused: number | null,
  reason: string,
  setTs: number,
  hasEvidence: number,
  hasAddresses: number,
  hasServers: number,
  hasSenders: number,
];

const LISTS = `
  select l.kind, sources.name, l.rank, l.ts from name_lists l join sources on sources.id = l.source_id
  where l.name = ?`;

const SENDERS = `
  select ip, helo, ts from senders indexed by senders_by_time where domain_id = ?
  order by ts desc, ip desc, helo desc limit ${MAX_DOMAIN_ADDRESSES}`;

export function createReadState(db: Database): (name: string) => DomainState | null {
  const findDomain = db.prepare<DomainRow>(DOMAIN);
  const lists = db.prepare<NameListColumns>(LISTS);
  const senders = db.prepare<[ip: Uint8Array, helo: string, ts: number]>(SENDERS);
  const urlsOf = createReadUrls(db);
  const evidenceOf = createReadEvidence(db);
  const addressesOf = createReadAddresses(db);
  const serversOf = createReadServers(db);

  const listsOf = (name: string) => toNameLists(lists.all(name));

  function stateOf(name: string, row: DomainRow): DomainState {
    const [id, firstUrlTs, whoisTs, createdTs, expiresTs, registrar, human, isAbused, reason, setTs, ...has] = row;
    const [hasEvidence, hasAddresses, hasServers, hasSenders] = has;
    const urls = urlsOf.newest(id);
    const { evidence, claims } = hasEvidence ? evidenceOf(id) : NO_EVIDENCE;
    return {
      id,
      name,
      urls,
      firstUrlTs,
      lastUrlTs: urls[0]?.onlineTs ?? urlsOf.lastFactTs(id),
      evidence,
      abusedClaim: abusedClaim(evidence, claims),
      evidenceHosts: urlsOf.evidenceHosts(id, urls, evidence),
      lists: listsOf(name),
      whois: whoisTs === null ? null : { ts: whoisTs, createdTs, expiresTs, registrar },
      settings: human === null ? null : toSettings([human, isAbused, reason, setTs]),
      addresses: hasAddresses ? addressesOf(id) : [],
      servers: hasServers ? serversOf(id) : [],
      senders: hasSenders
        ? senders
            .all(id)
            .map(([ip, helo, lastTs]) => ({ ip, helo, lastTs }))
            .sort(compareSenders)
        : [],
    };
  }

  return (name) => {
    const row = findDomain.get(name);
    const state = row === undefined ? { ...EMPTY_STATE, name, lists: listsOf(name) } : stateOf(name, row);
    return isKnown(state) ? state : null;
  };
}

// The hosts of one id are looked up once: joined to each row, they would take half the time of the whole state.
const NEWEST_URLS = `
  select host_id, online_ts from url_sightings where domain_id = ? order by online_ts desc, url_id desc
  limit ${MAX_PIECES}`;

const HOST = 'select host from hosts where id = ?';

const LAST_FACT = `
  with h as (
    select id from (select id from hosts where domain_id = ? limit ${MAX_CHECKED_HOSTS}) h
    where exists (select 1 from events where host_id = h.id and kind < ${FIRST_HIDDEN_KIND})
    or exists (select 1 from urls where host_id = h.id and event_kind is null)
    limit ${MAX_CHECKED_ROWS})
  select max(ts) from (
    select (select max(e.ts) from events e where e.host_id = h.id and e.kind < ${FIRST_HIDDEN_KIND}) as ts from h
    union all
    select (
      select max(coalesce(
        u.payload_ts,
        (select max(ts) from (select ts from resolutions where url_id = u.id limit ${MAX_CHECKED_ROWS})),
        0))
      from (
        select id, payload_ts from urls where host_id = h.id and event_kind is null
        order by id desc limit ${MAX_CHECKED_ROWS}) u)
    from h)`;

// Of very many hosts the most have no URL, so the newest URLs are checked instead.
const OTHER_HOST = `
  select case when (select count(*) from (select 1 from hosts where domain_id = ?1 limit ${MAX_CHECKED_HOSTS})) < ${MAX_CHECKED_HOSTS}
  then (
    select min(h.host) from hosts h where h.domain_id = ?1 and h.host <> ?2 and exists (
      select 1 from (
        select url_id from events e where e.host_id = h.id and e.kind < ${FIRST_HIDDEN_KIND}
        order by e.ts desc limit ${MAX_CHECKED_ROWS}) e
      join url_sightings s on s.url_id = e.url_id))
  else (
    select hosts.host from (
      select host_id from url_sightings where domain_id = ?1 order by online_ts desc, url_id desc limit ${MAX_DOMAIN_URLS}) s
    join hosts on hosts.id = s.host_id where hosts.host <> ?2 limit 1) end`;

function createReadUrls(db: Database) {
  const newestUrls = db.prepare<[hostId: number, onlineTs: number]>(NEWEST_URLS);
  const hostOf = db.prepare<[string]>(HOST);
  const lastFact = db.prepare<[ts: number | null]>(LAST_FACT);
  const otherHost = db.prepare<[string | null]>(OTHER_HOST);
  return {
    newest(id: number): UrlSighting[] {
      const hosts = new Map<number, string>();
      const urls = newestUrls.all(id).map(([hostId, onlineTs]) => {
        let hostname = hosts.get(hostId);
        if (hostname === undefined) {
          [hostname] = hostOf.one(hostId);
          hosts.set(hostId, hostname);
        }
        return { hostname, onlineTs };
      });
      return urls.sort(compareSightings);
    },

    /**
     * A URL that was never seen online has no row in `url_sightings`, but events, or without a status perhaps a payload or
     * addresses. 0 if it has nothing with a time.
     */
    lastFactTs: (id: number) => lastFact.get(id)?.[0] ?? null,

    /** Two of the host names that have evidence, if there are two. */
    evidenceHosts(id: number, urls: readonly UrlSighting[], evidence: readonly StoredEvidence[]): string[] {
      const names = new Set([...urls, ...evidence].map(({ hostname }) => hostname));
      const [only] = names;
      // Fewer URLs than this are all URLs; as many evidence of one source and kind have as many host names.
      if (names.size === 1 && urls.length === MAX_PIECES) {
        const [other] = otherHost.one(id, only as string);
        if (other !== null) names.add(other);
      }
      return [...names].sort(compareTexts).slice(0, 2);
    },
  };
}

/**
 * Greater than every value of the last column of a key. SQLite reads from the first row that is not less than a row value,
 * so without this column it would read all rows of the former key.
 */
const AFTER_ALL = Number.MAX_SAFE_INTEGER;
/** Less than every value of it. */
const BEFORE_ALL = -1;

/** The next source and kind of a domain: one step in the index for each, however many rows they have. */
const NEXT_SOURCE = `
  select e.source_id, e.kind, ${SOURCE_COLUMNS}
  from domain_evidence e join sources s on s.id = e.source_id
  where e.domain_id = ? and (e.source_id, e.kind, e.rank) > (?, ?, ${AFTER_ALL})
  order by e.source_id, e.kind, e.rank limit 1`;

// All rows of the rank of the last one that counts: which of them are taken must not depend on ids.
const EVIDENCE = `
  select e.rank, ${EVIDENCE_COLUMNS}
  from domain_evidence e indexed by domain_evidence_by_rank join hosts on hosts.id = e.host_id
  where e.domain_id = ?1 and e.source_id = ?2 and e.kind = ?3 and e.rank >= coalesce((
    select rank from domain_evidence indexed by domain_evidence_by_rank
    where domain_id = ?1 and source_id = ?2 and kind = ?3 order by rank desc limit 1 offset ${MAX_PIECES - 1}), ${LEAST_RANK})
  order by e.rank desc, e.host_id desc limit ${MAX_TIED_ROWS}`;

// Of the names of the newest time the first one.
const NEWEST_EVIDENCE = `
  select ${EVIDENCE_COLUMNS}
  from (
    select host_id from domain_evidence indexed by domain_evidence_by_time
    where domain_id = ?1 and source_id = ?2 and kind = ?3 and last_ts = (
      select max(last_ts) from domain_evidence indexed by domain_evidence_by_time
      where domain_id = ?1 and source_id = ?2 and kind = ?3)
    limit ${MAX_TIED_ROWS}) n
  join hosts on hosts.id = n.host_id
  join domain_evidence e on e.domain_id = ?1 and e.source_id = ?2 and e.kind = ?3 and e.host_id = n.host_id
  order by hosts.host limit 1`;

const CLAIM = `
  select max(last_ts) from domain_evidence indexed by domain_evidence_claims
  where domain_id = ? and source_id = ? and kind = ? and instr(details, '"abused":true') > 0`;

type ReadEvidence = { evidence: StoredEvidence[]; claims: EvidenceClaim[] };
const NO_EVIDENCE: ReadEvidence = { evidence: [], claims: [] };

/** Of each source and kind the rows that count most, the newest one, and the newest that says that the site was broken into. */
function createReadEvidence(db: Database) {
  const nextSource = db.prepare<[sourceId: number, kind: number, ...SourceColumns]>(NEXT_SOURCE);
  const best = db.prepare<RankedColumns>(EVIDENCE);
  const newest = db.prepare<EvidenceColumns>(NEWEST_EVIDENCE);
  const claim = db.prepare<[lastTs: number | null]>(CLAIM);

  return (domainId: number): ReadEvidence => {
    const evidence: StoredEvidence[] = [];
    const claims: EvidenceClaim[] = [];
    let next = nextSource.get(domainId, -1, 0);
    while (next !== undefined) {
      const [sourceId, kind, ...columns] = next;
      const source = toSource(columns);
      const key = [domainId, sourceId, kind] as const;
      const rows = best.all(...key);
      // Fewer rows than this are all rows.
      const isAll = rows.length < MAX_PIECES;
      for (const row of evidenceRows(rows, isAll ? null : newest.one(...key))) {
        evidence.push(toEvidence(source, kind, row));
      }
      const [lastTs] = isAll ? [null] : claim.one(...key);
      if (lastTs !== null) claims.push({ source, lastTs });
      next = nextSource.get(domainId, sourceId, kind);
    }
    return { evidence: evidence.sort(compareEvidence), claims };
  };
}

/** So many rows are read as they are: that costs less than steps. */
const FEW_ROWS = 64;

const FEW_ADDRESSES = `
  select ip, max(ts), count(*) from (select ip, ts from name_addresses where domain_id = ? limit ${FEW_ROWS})
  group by ip`;

// One step for each host and address, however many days they have. The newest day has up to two rows, one of each origin.
const NEXT_ADDRESS = `
  select n.host_id, n.ip, (
    select max(ts) from (
      select ts from name_addresses where domain_id = n.domain_id and host_id = n.host_id and ip = n.ip
      order by day desc, origin desc limit 2))
  from name_addresses n where n.domain_id = ? and (n.host_id, n.ip, n.day) > (?, ?, ${AFTER_ALL})
  order by n.host_id, n.ip, n.day limit 1`;

// The newest days first: one step for each day and address, however many hosts have it.
const PREVIOUS_ADDRESS = `
  select day, ip, ts from name_addresses indexed by name_addresses_by_day
  where domain_id = ? and (day, ip, ts) < (?, ?, ${BEFORE_ALL}) order by day desc, ip desc, ts desc limit 1`;

function createReadAddresses(db: Database) {
  const fewAddresses = db.prepare<[ip: Uint8Array, lastTs: number, rows: number]>(FEW_ADDRESSES);
  const nextAddress = db.prepare<[hostId: number, ip: Uint8Array, lastTs: number]>(NEXT_ADDRESS);
  const previousAddress = db.prepare<[day: number, ip: Uint8Array, ts: number]>(PREVIOUS_ADDRESS);

  /** Null if there are too many pairs of a host and an address. */
  function ofEachHost(domainId: number): SeenAddressRow[] | null {
    const rows: SeenAddressRow[] = [];
    let next = nextAddress.get(domainId, -1, NO_ADDRESS);
    while (next !== undefined) {
      const [hostId, ip, lastTs] = next;
      rows.push([ip, lastTs]);
      if (rows.length === MAX_DOMAIN_ADDRESSES) return null;
      next = nextAddress.get(domainId, hostId, ip);
    }
    return rows;
  }

  function ofNewestDays(domainId: number): SeenAddressRow[] {
    const rows: SeenAddressRow[] = [];
    let next = previousAddress.get(domainId, AFTER_ALL, NO_ADDRESS);
    while (next !== undefined && rows.length < MAX_ADDRESS_DAYS) {
      const [day, ip, ts] = next;
      rows.push([ip, ts]);
      next = previousAddress.get(domainId, day, ip);
    }
    return rows;
  }

  return (domainId: number): DomainState['addresses'] => {
    const few = fewAddresses.all(domainId);
    const isAll = few.reduce((sum, [, , rows]) => sum + rows, 0) < FEW_ROWS;
    if (isAll) return newestOfEach(few.map(([ip, lastTs]) => [ip, lastTs]));
    return newestOfEach(ofEachHost(domainId) ?? ofNewestDays(domainId));
  };
}

const SERVERS = `
  select n.ns_host_id, hosts.host, hosts.domain_id, max(n.ts), count(*)
  from name_servers n join hosts on hosts.id = n.ns_host_id
  where n.domain_id = ? group by n.ns_host_id limit ${MAX_DOMAIN_ADDRESSES}`;

// Addresses of a name server from URLs (origin 0) are those of a web site with the same name.
const SERVER_ADDRESSES = `
  select distinct ip from name_addresses where domain_id = ? and host_id = ? and origin = 1
  order by ip limit ${MAX_DOMAIN_ADDRESSES}`;

function createReadServers(db: Database) {
  const servers =
    db.prepare<[hostId: number, hostname: string, domainId: number | null, lastTs: number, days: number]>(SERVERS);
  const addresses = db.prepare<[ip: Uint8Array]>(SERVER_ADDRESSES);

  return (id: number): DomainState['servers'] =>
    servers
      .all(id)
      .map(([hostId, hostname, domainId, lastTs, days]) => {
        const ips = addresses.all(domainId, hostId).map(([ip]) => ip);
        return { hostname, lastTs, days, ips };
      })
      .sort(compareHostnames);
}
