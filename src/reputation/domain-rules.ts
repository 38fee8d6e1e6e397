import { toHex } from '../core/byte-text.ts';
import type { DomainName } from '../core/domain-name.ts';
import {
  type DomainEvidence,
  type DomainFact,
  type DomainKind,
  type DomainTag,
  detailsText,
} from '../core/evidence.ts';
import { dayOf } from '../core/time.ts';
import { isRecordedAgain } from '../database/changes.ts';
import { EVIDENCE } from './score.ts';

/**
 * What a source said about one host name in one kind, in one row however often it said it. Any order of arrival, and any
 * repetition, gives the same row:
 *
 *     ts 100 confidence 50, ts 200 confidence 100, ts 300 confidence 50 Mirai
 *     → first 100, best 200 with confidence 100, last 300 with Mirai and confidence 50
 */
export type EvidenceRow = {
  /** `bestTs` + half-life · log2(weight), in whole seconds: of two rows of one kind, the greater one always counts more. */
  rank: number;
  bestTs: number;
  bestConfidence: number;
  firstTs: number;
  lastTs: number;
  /** What the newest sighting says, as JSON with sorted keys. */
  details: string;
};

/** Its values in the order of the columns. */
export type EvidenceValues = [
  rank: number,
  bestTs: number,
  bestConfidence: number,
  firstTs: number,
  lastTs: number,
  details: string,
];

export function toEvidenceRow([rank, bestTs, bestConfidence, firstTs, lastTs, details]: EvidenceValues): EvidenceRow {
  return { rank, bestTs, bestConfidence, firstTs, lastTs, details };
}

export function evidenceValues(row: EvidenceRow): EvidenceValues {
  return [row.rank, row.bestTs, row.bestConfidence, row.firstTs, row.lastTs, row.details];
}

type EvidenceDetails = {
  confidence: number;
  botname: string | null;
  isAbused: boolean | null;
  tags: readonly DomainTag[];
};

/** The confidence of a source that gives none; it is not written into `details`. */
const FULL_CONFIDENCE = 100;
const LEAST_CONFIDENCE = 1;

export function evidenceRank(kind: DomainKind, ts: number, confidence: number): number {
  const { weight, halfLifeSeconds } = EVIDENCE[kind];
  return Math.round(ts + halfLifeSeconds * Math.log2(kind === 'phishing' ? weight : (weight * confidence) / 100));
}

/** The row of a single sighting. */
export function evidenceRow({ kind, ts, confidence, botname, isAbused, tags }: DomainEvidence): EvidenceRow {
  return {
    rank: evidenceRank(kind, ts, confidence),
    bestTs: ts,
    bestConfidence: confidence,
    firstTs: ts,
    lastTs: ts,
    details: detailsText({
      confidence: confidence === FULL_CONFIDENCE ? null : confidence,
      botname,
      abused: isAbused,
      tags: tags.length === 0 ? null : tags,
    }),
  };
}

const NO_DETAILS: EvidenceDetails = { confidence: FULL_CONFIDENCE, botname: null, isAbused: null, tags: [] };

export function readDetails(details: string): EvidenceDetails {
  if (details === '') return NO_DETAILS;
  const { confidence = FULL_CONFIDENCE, botname = null, abused = null, tags = [] } = JSON.parse(details);
  return { confidence, botname, isAbused: abused, tags };
}

export function mergeEvidence(a: EvidenceRow, b: EvidenceRow): EvidenceRow {
  const { rank, bestTs, bestConfidence } = countsMore(b, a) ? b : a;
  const { lastTs, details } = isNewer(b, a) ? b : a;
  return { rank, bestTs, bestConfidence, firstTs: Math.min(a.firstTs, b.firstTs), lastTs, details };
}

export function isSameEvidence(a: EvidenceRow, b: EvidenceRow): boolean {
  return (Object.keys(a) as (keyof EvidenceRow)[]).every((key) => a[key] === b[key]);
}

/** Whether the change feed records it: not if the same is only seen again within an hour. */
export function isRecordedEvidence(old: EvidenceRow | null, now: EvidenceRow): boolean {
  if (old === null || old.firstTs !== now.firstTs || old.details !== now.details) return true;
  return isRecordedAgain(now.firstTs, old.rank, now.rank);
}

function countsMore(a: EvidenceRow, b: EvidenceRow): boolean {
  return (a.rank - b.rank || a.bestTs - b.bestTs || a.bestConfidence - b.bestConfidence) > 0;
}

/**
 * In one second the greater confidence counts as newer, then the greater text. So if the best and the last sighting have
 * the same time, they also have the same confidence, and `exportedEvidence` can write them as one.
 */
function isNewer(a: EvidenceRow, b: EvidenceRow): boolean {
  if (a.lastTs !== b.lastTs) return a.lastTs > b.lastTs;
  const difference = readDetails(a.details).confidence - readDetails(b.details).confidence;
  return difference === 0 ? a.details > b.details : difference > 0;
}

export type EvidenceKey = Pick<DomainEvidence, 'source' | 'name' | 'kind'>;
export type EvidenceGroup = { key: EvidenceKey; row: EvidenceRow };

/** The rows of a batch, one for each source, kind and host name. */
export function groupEvidence(evidence: readonly DomainEvidence[]): EvidenceGroup[] {
  const groups = new Map<string, EvidenceGroup>();
  for (const one of evidence) {
    const { source, name, kind } = one;
    const text = `${kind} ${name.hostname} ${source}`;
    const group = groups.get(text);
    const row = evidenceRow(one);
    if (group === undefined) groups.set(text, { key: { source, name, kind }, row });
    else group.row = mergeEvidence(group.row, row);
  }
  return [...groups.values()];
}

/** Evidence that gives exactly this row: the first, the best and the last sighting, each time once. */
export function exportedEvidence(key: EvidenceKey, row: EvidenceRow): DomainEvidence[] {
  const { firstTs, bestTs, bestConfidence, lastTs, details } = row;
  const plain = { ...key, botname: null, isAbused: null, tags: [] };
  const exported: DomainEvidence[] = [];
  // With the least confidence the first sighting never counts more than the best one, and only its time is stored.
  if (firstTs < bestTs && firstTs < lastTs) exported.push({ ...plain, ts: firstTs, confidence: LEAST_CONFIDENCE });
  if (bestTs < lastTs) exported.push({ ...plain, ts: bestTs, confidence: bestConfidence });
  exported.push({ ...key, ts: lastTs, ...readDetails(details) });
  return exported;
}

export type WhoisRow = { domain: string; ts: number } & Pick<WhoisFact, 'createdTs' | 'expiresTs' | 'registrar'>;
type WhoisFact = Extract<DomainFact, { kind: 'whois' }>;

/** The newest registration data; of one second, those with the greater text. */
export function mergeWhois(a: WhoisRow, b: WhoisRow): WhoisRow {
  if (a.ts !== b.ts) return a.ts > b.ts ? a : b;
  return whoisText(a) >= whoisText(b) ? a : b;
}

function whoisText({ createdTs, expiresTs, registrar }: Omit<WhoisRow, 'domain' | 'ts'>): string {
  return JSON.stringify([createdTs, expiresTs, registrar]);
}

type RankRow = { domain: string; source: string; rank: number | null; ts: number };

/** The newest rank of a source; of one second the smaller one. No rank counts as the greatest. */
function mergeRank<Row extends Pick<RankRow, 'rank' | 'ts'>>(a: Row, b: Row): Row {
  if (a.ts !== b.ts) return a.ts > b.ts ? a : b;
  return (a.rank ?? Number.POSITIVE_INFINITY) <= (b.rank ?? Number.POSITIVE_INFINITY) ? a : b;
}

type AddressRow = { name: DomainName; ip: Uint8Array; day: number; ts: number };
type ServerRow = { domain: string; server: DomainName; day: number; ts: number };
type SenderRow = { domain: string; ip: Uint8Array; helo: string; ts: number };

/** The facts of a batch as rows, each key once. */
export type FactRows = {
  addresses: AddressRow[];
  servers: ServerRow[];
  senders: SenderRow[];
  whois: WhoisRow[];
  ranks: RankRow[];
};

export function groupFacts(facts: readonly DomainFact[]): FactRows {
  const addresses = grouped<AddressRow>(newest, ({ name, ip, day }) => [name.hostname, toHex(ip), day]);
  const servers = grouped<ServerRow>(newest, ({ domain, server, day }) => [domain, server.hostname, day]);
  const senders = grouped<SenderRow>(newest, ({ domain, ip, helo }) => [domain, toHex(ip), helo]);
  const whois = grouped<WhoisRow>(mergeWhois, ({ domain }) => [domain]);
  const ranks = grouped<RankRow>(mergeRank, ({ domain, source }) => [domain, source]);
  for (const fact of facts) {
    const { ts, name } = fact;
    const { domain } = name;
    if (fact.kind === 'a') for (const ip of fact.ips) addresses.add({ name, ip, day: dayOf(ts), ts });
    else if (fact.kind === 'ns') for (const server of fact.servers) servers.add({ domain, server, day: dayOf(ts), ts });
    else if (fact.kind === 'sender') senders.add({ domain, ip: fact.ip, helo: fact.helo, ts });
    else if (fact.kind === 'whois') {
      const { createdTs, expiresTs, registrar } = fact;
      whois.add({ domain, ts, createdTs, expiresTs, registrar });
    } else ranks.add({ domain, source: fact.source, rank: fact.rank, ts });
  }
  return {
    addresses: addresses.rows(),
    servers: servers.rows(),
    senders: senders.rows(),
    whois: whois.rows(),
    ranks: ranks.rows(),
  };
}

function grouped<Row>(merge: (a: Row, b: Row) => Row, keyOf: (row: Row) => readonly (string | number)[]) {
  const rows = new Map<string, Row>();
  return {
    add(row: Row) {
      const key = keyOf(row).join(' ');
      const known = rows.get(key);
      rows.set(key, known === undefined ? row : merge(known, row));
    },
    rows: () => [...rows.values()],
  };
}

function newest<Row extends { ts: number }>(a: Row, b: Row): Row {
  return a.ts >= b.ts ? a : b;
}
