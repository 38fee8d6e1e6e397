import { toByteText } from '../core/byte-text.ts';
import { DOMAIN_KINDS, type DomainKind, NAME_LIST_KINDS, type NameListKind, type Source } from '../core/evidence.ts';
import { compareTexts } from '../core/text.ts';
import { readDetails } from './domain-rules.ts';
import { MAX_PIECES } from './score.ts';
import {
  type ChangedSettings,
  type DomainSettings,
  type DomainState,
  MAX_DOMAIN_ADDRESSES,
  type MalwareFile,
  type MalwareUrl,
  type NameListing,
  type Sender,
  type SettingsChange,
  type StoredEvidence,
  type UrlSighting,
} from './store.ts';

// What is known about a domain, as both engines build it from their rows: conversions, and the order of every list.

export const EVIDENCE_COLUMNS = 'hosts.host, e.best_ts, e.best_confidence, e.first_ts, e.last_ts, e.details';

export type EvidenceColumns = [
  hostname: string,
  bestTs: number,
  bestConfidence: number,
  firstTs: number,
  lastTs: number,
  details: string,
];

export const SOURCE_COLUMNS = 's.name, s.trust_permille, s.life_seconds, s.interval_seconds';

export type SourceColumns = [
  name: string,
  trustPermille: number,
  lifeSeconds: number | null,
  intervalSeconds: number | null,
];

export function toSource([name, trustPermille, lifeSeconds, intervalSeconds]: SourceColumns): Source {
  return { name, trustPermille, lifeSeconds, intervalSeconds };
}

/** So many rows of one rank, or of one time, are compared by their names. */
export const MAX_TIED_ROWS = 1_000;

/** Less than every rank: that is a time, some months earlier at most. */
export const LEAST_RANK = Number.MIN_SAFE_INTEGER;

/** A row with its rank, which sorts the rows of one source and kind by what they count. */
export type RankedColumns = [rank: number, ...EvidenceColumns];

/**
 * Of a source and kind the rows that count most, and the newest one, which may count less. `rows`: those of the rank of the last
 * of these, and of greater ranks. Of one rank the first names are taken, so that the order of arrival does not matter.
 */
export function evidenceRows(rows: readonly RankedColumns[], newest: EvidenceColumns | null): EvidenceColumns[] {
  const best = rows
    .toSorted(([rankA, nameA], [rankB, nameB]) => rankB - rankA || compareTexts(nameA, nameB))
    .slice(0, MAX_PIECES)
    .map(([, ...columns]): EvidenceColumns => columns);
  const isMissing = newest !== null && best.every((row) => lastTsOf(row) < lastTsOf(newest));
  return isMissing ? [...best, newest] : best;
}

const lastTsOf = ([, , , , lastTs]: EvidenceColumns): number => lastTs;

export function toEvidence(source: Source, kind: number, row: EvidenceColumns): StoredEvidence {
  const [hostname, bestTs, bestConfidence, firstTs, lastTs, details] = row;
  const { botname, isAbused, tags } = readDetails(details);
  return {
    source,
    kind: DOMAIN_KINDS[kind] as DomainKind,
    hostname,
    bestTs,
    bestConfidence,
    firstTs,
    lastTs,
    botname,
    isAbused,
    tags,
  };
}

/** A domain that has no row. */
export const EMPTY_STATE: Omit<DomainState, 'name'> = {
  id: 0,
  urls: [],
  firstUrlTs: null,
  lastUrlTs: null,
  evidence: [],
  abusedClaim: null,
  evidenceHosts: [],
  lists: [],
  whois: null,
  settings: null,
  addresses: [],
  servers: [],
  senders: [],
};

/**
 * A domain is known if something is stored of it: a URL, evidence, a fact, a rank or a setting. A row in `domains` is not
 * enough: the domain may only be that of a name server of others. Nor is a list without ranks: it says what kind of site the
 * domain would be, not that anybody saw it.
 */
export function isKnown({ lastUrlTs, evidence, lists, whois, settings, ...state }: DomainState): boolean {
  const facts = state.addresses.length + state.servers.length + state.senders.length;
  const hasRank = lists.some(({ rank }) => rank !== null);
  return lastUrlTs !== null || evidence.length + facts > 0 || hasRank || whois !== null || settings !== null;
}

/**
 * Hosts of a domain that are checked for URLs. A domain with more hosts has nearly always evidence, facts or URLs that were
 * seen online, and these are found without the check, or among its newest URLs. Name servers of other domains are hosts too.
 */
export const MAX_CHECKED_HOSTS = 1_000;

/** Hosts that have URLs, and the rows of each that decide. */
export const MAX_CHECKED_ROWS = 64;

/** Of a domain with very many pairs of a host and an address, so many pairs of a day and an address are read, the newest first. */
export const MAX_ADDRESS_DAYS = 2_000;

export type SeenAddressRow = [ip: Uint8Array, lastTs: number];

/** Each address once, with its newest time: several hosts may have it, on several days. Those of the first rows, if there are many. */
export function newestOfEach(rows: readonly SeenAddressRow[]): DomainState['addresses'] {
  const newest = new Map<string, { ip: Uint8Array; lastTs: number }>();
  for (const [ip, lastTs] of rows) {
    const key = toByteText(ip);
    const known = newest.get(key);
    if (known !== undefined) known.lastTs = Math.max(known.lastTs, lastTs);
    else if (newest.size < MAX_DOMAIN_ADDRESSES) newest.set(key, { ip, lastTs });
  }
  return [...newest.values()].sort(compareAddresses);
}

type Newest = { lastTs: number };
type Claim = NonNullable<DomainState['abusedClaim']>;

/** The newest evidence of a source and kind that says that the site was broken into. */
export type EvidenceClaim = Pick<StoredEvidence, 'source' | 'lastTs'>;

/** Newest first; at equal times by the text, so that every engine and node answers in the same order. */
function newestFirst<Row extends Newest>(textOf: (row: Row) => string): (a: Row, b: Row) => number {
  return (a, b) => b.lastTs - a.lastTs || compareTexts(textOf(a), textOf(b));
}

// A domain may have a hundred thousand of both: texts of the addresses would take most of the time.
export const compareAddresses = (a: Newest & { ip: Uint8Array }, b: Newest & { ip: Uint8Array }): number =>
  b.lastTs - a.lastTs || Buffer.compare(a.ip, b.ip);
export const compareSenders = (a: Sender, b: Sender): number => compareAddresses(a, b) || compareTexts(a.helo, b.helo);
export const compareHostnames = newestFirst<Newest & { hostname: string }>(({ hostname }) => hostname);
export const compareUrls = newestFirst<MalwareUrl>(({ url }) => url);
export const compareFiles = newestFirst<MalwareFile>(({ sha256 }) => sha256);

export function compareSightings(a: UrlSighting, b: UrlSighting): number {
  return b.onlineTs - a.onlineTs || compareTexts(a.hostname, b.hostname);
}

export function compareEvidence(a: StoredEvidence, b: StoredEvidence): number {
  return (
    compareTexts(a.source.name, b.source.name) || compareTexts(a.kind, b.kind) || compareTexts(a.hostname, b.hostname)
  );
}

/**
 * Of each source only its newest evidence counts; at equal times the one that says that the site was broken into. `claims`: such
 * evidence that may not be among the rows.
 */
export function abusedClaim(evidence: readonly StoredEvidence[], claims: readonly EvidenceClaim[]): Claim | null {
  const newest = new Map<string, Pick<StoredEvidence, 'source' | 'lastTs' | 'isAbused'>>();
  for (const one of [...evidence, ...claims.map((claim) => ({ ...claim, isAbused: true }))]) {
    const other = newest.get(one.source.name);
    const isNewer =
      other === undefined || one.lastTs > other.lastTs || (one.lastTs === other.lastTs && one.isAbused === true);
    if (isNewer) newest.set(one.source.name, one);
  }
  const held = [...newest.values()].filter(({ isAbused }) => isAbused === true);
  const [first] = held.sort((a, b) => b.lastTs - a.lastTs || compareTexts(a.source.name, b.source.name));
  return first === undefined ? null : { source: first.source.name, ts: first.lastTs };
}

/** A row of `name_lists` without the name. */
export type NameListColumns = [kind: number, source: string, rank: number | null, ts: number];

export function toNameLists(rows: readonly NameListColumns[]): NameListing[] {
  return rows
    .map(([kind, source, rank, ts]) => ({ kind: NAME_LIST_KINDS[kind] as NameListKind, source, rank, ts }))
    .sort((a, b) => compareTexts(a.kind, b.kind) || compareTexts(a.source, b.source));
}

/** A row of `domain_settings`. */
export type SettingsRow = [human: number, isAbused: number | null, reason: string, setTs: number];
export type SetDomainRow = [name: string, ...SettingsRow];

export function toSettings([human, isAbused, reason, setTs]: SettingsRow): DomainSettings {
  return { human, isAbused: isAbused === null ? null : isAbused === 1, reason, setTs };
}

export function toSetDomain([name, ...row]: SetDomainRow): DomainSettings & { name: string } {
  return { name, ...toSettings(row) };
}

export function toSettingsRow({ human, isAbused, reason, setTs }: DomainSettings): SettingsRow {
  return [human, isAbused === null ? null : Number(isAbused), reason, setTs];
}

const NOTHING_SET = { human: 0, isAbused: null, reason: '' };

export function changeSettings(row: SettingsRow | undefined, change: SettingsChange): ChangedSettings {
  const before = row === undefined ? null : toSettings(row);
  return { before, settings: { ...NOTHING_SET, ...before, ...change } };
}
