import { OPERATOR_SOURCE } from '../core/evidence.ts';
import { dayText } from '../core/time.ts';
import { bestRanked, WHOIS_SOURCE } from './abused.ts';
import type { DomainReport } from './domain-report.ts';
import {
  agePoints,
  type DimensionName,
  EVIDENCE_DIMENSIONS,
  type EvidenceDimension,
  type EvidenceKind,
  MAX_PIECES,
  type Piece,
  rankPoints,
  rounded,
  type SourceShare,
  sourceShares,
} from './score.ts';

/** A part of the score of a domain, and why. The points of all reasons add up to the score. */
export type Reason = { dimension: DimensionName; points: number; text: string; feed: string; ts: number };

/** By dimension; in a dimension the largest first. */
export function reasonsOf(report: DomainReport): Reason[] {
  const shares = sourceShares(report.input.pieces, report.nowTs).filter(({ p }) => p > 0);
  return [
    ...humanReasons(report),
    ...abusedReasons(report),
    ...identityReasons(report),
    ...EVIDENCE_DIMENSIONS.flatMap((dimension) => evidenceReasons(report, dimension, shares)),
  ];
}

function humanReasons({ state: { settings }, dimensions }: DomainReport): Reason[] {
  if (settings === null || settings.human === 0) return [];
  const because = settings.reason === '' ? '' : `: ${settings.reason}`;
  const text = `Set by the operator on ${dayText(settings.setTs)}${because}`;
  return [{ dimension: 'human', points: dimensions.human, text, feed: OPERATOR_SOURCE, ts: settings.setTs }];
}

/** It has no points of its own: it reduces those of the evidence. */
function abusedReasons({ abused, lastSeenTs }: DomainReport): Reason[] {
  if (abused === null) return [];
  const text = abused.isAbused
    ? `Abused, because ${abused.text}: evidence counts one fifth for the domain, and does not list it`
    : `Not abused, because ${abused.text}`;
  return [{ dimension: 'identity', points: 0, text, feed: abused.feed, ts: abused.ts ?? lastSeenTs }];
}

function identityReasons({ input, dimensions, nowTs, state: { whois, lists } }: DomainReport): Reason[] {
  const reasons: Reason[] = [];
  const age = agePoints(input, nowTs);
  if (age !== 0 && whois !== null) {
    const text = `Registered on ${dayText(input.createdTs ?? 0)}, less than 30 days ago`;
    reasons.push({ dimension: 'identity', points: age, text, feed: WHOIS_SOURCE, ts: whois.ts });
  }
  const popular = bestRanked(lists);
  const popularity = rankPoints(input);
  if (popularity !== 0 && popular !== undefined) {
    const text = `Rank ${popular.rank} in the popularity list ${popular.source}`;
    reasons.push({ dimension: 'identity', points: popularity, text, feed: popular.source, ts: popular.ts });
  }
  return addingUpTo(dimensions.identity, reasons);
}

/** Sources multiply (1 − p), so their shares are those of the logarithms. */
function evidenceReasons(report: DomainReport, dimension: EvidenceDimension, all: readonly SourceShare[]): Reason[] {
  const shares = all.filter((share) => share.dimension === dimension);
  const total = shares.reduce((sum, { p }) => sum + Math.log1p(-p), 0);
  const points = report.dimensions[dimension];
  const reasons = shares.map((share) => ({
    dimension,
    points: (points * Math.log1p(-share.p)) / total,
    text: describeShare(share),
    feed: share.source,
    ts: share.pieces.reduce((newest, piece) => Math.max(newest, piece.newestTs), 0),
  }));
  return addingUpTo(points, reasons);
}

/** Rounds every reason to one decimal. The largest one takes the rest. */
function addingUpTo(total: number, reasons: readonly Reason[]): Reason[] {
  const sorted = reasons.toSorted((a, b) => Math.abs(b.points) - Math.abs(a.points));
  const [largest, ...others] = sorted.map((reason) => ({ ...reason, points: rounded(reason.points) }));
  if (largest === undefined) return [];
  const rest = others.reduce((sum, { points }) => sum - points, total);
  return [{ ...largest, points: rounded(rest) }, ...others];
}

/** `abuse.example: names a.example as a botnet controller (confidence 75), last on 2026-01-01. Weight 1.12 after its age, trust 0.9`. */
function describeShare({ source, pieces, x, trust }: SourceShare): string {
  const kinds = [...Map.groupBy(pieces, ({ kind }) => kind)].map(([kind, group]) => describeKind(kind, group));
  return `${source}: ${kinds.join('; ')}. Weight ${x.toFixed(2)} after its age, trust ${trust}`;
}

/** Names in a text. More are counted only. */
const NAMED = 3;

function describeKind(kind: EvidenceKind, pieces: readonly Piece[]): string {
  const subjects = [...new Set(pieces.map(({ subject }) => subject))];
  const more = subjects.length - NAMED;
  const names = subjects.slice(0, NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
  const day = dayText(pieces.reduce((newest, { newestTs }) => Math.max(newest, newestTs), 0));
  const confidence = `confidence ${Math.max(...pieces.map((piece) => piece.confidence ?? 0))}`;
  switch (kind) {
    case 'url':
      return `${countOf(pieces.length)} on ${names}, last seen online on ${day}`;
    case 'botnetcc':
      return `names ${names} as a botnet controller (${confidence}), last on ${day}`;
    case 'malware':
      return `names ${names} for malware (${confidence}), last on ${day}`;
    case 'phishing':
      return `names ${names} for phishing, last on ${day}`;
    case 'infra-listing':
      return `lists addresses or name servers of the domain as botnet controllers or hostile networks: ${names}, last on ${day}`;
    case 'sender-listing':
      return `lists senders of the domain as infected hosts or spam sources: ${names}, last on ${day}`;
  }
}

/** The store gives no more than 64. */
function countOf(urls: number): string {
  if (urls === 1) return 'one malware URL';
  return `${urls >= MAX_PIECES ? `${MAX_PIECES} or more` : urls} malware URLs`;
}
