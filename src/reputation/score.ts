import { firstSecondNot } from '../core/first-second.ts';
import { DAY_SECONDS } from '../core/time.ts';

/**
 * The score of a domain: five dimensions and their sum. A pure function of what is stored and of the time of the
 * query; nothing is computed in advance.
 *
 *     one source, one dimension   x = Σ weight · 2^(−age / half-life), over its 64 largest pieces of evidence
 *                                 p = trust · (1 − e^(−x))
 *     one dimension               −M · (1 − Π (1 − p)) · s
 *
 * s is 0.2 for a domain that is abused, otherwise 1. docs/reputation.md explains it with a worked example.
 */

export const DIMENSIONS = ['human', 'identity', 'infra', 'malware', 'smtp'] as const;
export type DimensionName = (typeof DIMENSIONS)[number];

/** The dimensions that follow from evidence, and the most points that each can take away. */
const MAX_POINTS = { infra: 15, malware: 40, smtp: 15 } as const;
export type EvidenceDimension = keyof typeof MAX_POINTS;
export const EVIDENCE_DIMENSIONS = Object.keys(MAX_POINTS) as EvidenceDimension[];

export type EvidenceKind = 'url' | 'botnetcc' | 'malware' | 'phishing' | 'infra-listing' | 'sender-listing';

/** After each half-life without news a piece of evidence counts half. */
type EvidenceRule = { weight: number; halfLifeSeconds: number; dimension: EvidenceDimension };

export const EVIDENCE: Record<EvidenceKind, EvidenceRule> = {
  url: { weight: 0.7, halfLifeSeconds: 14 * DAY_SECONDS, dimension: 'malware' },
  botnetcc: { weight: 1.5, halfLifeSeconds: 30 * DAY_SECONDS, dimension: 'malware' },
  malware: { weight: 0.7, halfLifeSeconds: 14 * DAY_SECONDS, dimension: 'malware' },
  phishing: { weight: 0.7, halfLifeSeconds: 3 * DAY_SECONDS, dimension: 'infra' },
  'infra-listing': { weight: 0.7, halfLifeSeconds: 14 * DAY_SECONDS, dimension: 'infra' },
  'sender-listing': { weight: 0.7, halfLifeSeconds: 7 * DAY_SECONDS, dimension: 'smtp' },
};

/** Pieces of evidence of one source that count in one dimension. */
export const MAX_PIECES = 64;

/** What an abused domain keeps of its evidence. */
const ABUSED_SHARE = 0.2;

/** A score from which a domain is listed. */
export const LISTED_FROM = -10;
const MAX_LISTED_SECONDS = 30 * DAY_SECONDS;

/** A domain that was registered within this time loses points. */
const NEW_DOMAIN_SECONDS = 30 * DAY_SECONDS;
const NEW_DOMAIN_POINTS = -5;

/** A rank beyond this adds nothing. */
export const MAX_RANK = 100_000;
const RANK_POINTS = 10;

/** One (source, host name, kind), one URL, or the listings of one address or name server by one source. */
export type Piece = {
  source: string;
  /** Of the source, from 0 to 0.9. */
  trust: number;
  kind: EvidenceKind;
  /** The host name, address or name server that it is about. */
  subject: string;
  /** Of the sighting that counts most. */
  ts: number;
  /** Of the newest sighting. */
  newestTs: number;
  /** 1 to 100; only with `botnetcc` and `malware`. */
  confidence?: number;
};

export type ScoreInput = {
  pieces: readonly Piece[];
  isAbused: boolean;
  createdTs: number | null;
  /** The best rank in a popularity list. */
  rank: number | null;
  /** Set by the operator, −50 to 50. */
  human: number;
};

export type Dimensions = Record<DimensionName, number>;

/** What one source says in one dimension. */
export type SourceShare = {
  dimension: EvidenceDimension;
  source: string;
  trust: number;
  /** All of them, also those beyond the 64 that count. */
  pieces: readonly Piece[];
  x: number;
  p: number;
};

type Sighting = Pick<Piece, 'source' | 'kind' | 'ts' | 'confidence'>;

export function contribution({ kind, ts, confidence = 100 }: Sighting, nowTs: number): number {
  const { weight, halfLifeSeconds } = EVIDENCE[kind];
  const factor = kind === 'botnetcc' || kind === 'malware' ? confidence / 100 : 1;
  return weight * factor * 2 ** (-Math.max(0, nowTs - ts) / halfLifeSeconds);
}

/** Sorted, and added in the order of size: the order of the pieces must not change the last digit. */
export function sourceShares(pieces: readonly Piece[], nowTs: number): SourceShare[] {
  return EVIDENCE_DIMENSIONS.flatMap((dimension) => {
    const bySource = Map.groupBy(
      pieces.filter(({ kind }) => EVIDENCE[kind].dimension === dimension),
      ({ source }) => source,
    );
    return [...bySource.keys()].sort().map((source) => {
      const group = bySource.get(source) ?? [];
      const trust = group[0]?.trust ?? 0;
      const largest = group.map((piece) => contribution(piece, nowTs)).sort((a, b) => b - a);
      const x = largest.slice(0, MAX_PIECES).reduce((sum, one) => sum + one, 0);
      return { dimension, source, trust, pieces: group, x, p: trust * -Math.expm1(-x) };
    });
  });
}

export function dimensionsOf(input: ScoreInput, nowTs: number): Dimensions {
  const clean = { infra: 1, malware: 1, smtp: 1 };
  for (const { dimension, p } of sourceShares(input.pieces, nowTs)) clean[dimension] *= 1 - p;
  const share = input.isAbused ? ABUSED_SHARE : 1;
  const evidence = (dimension: EvidenceDimension) => rounded(-MAX_POINTS[dimension] * (1 - clean[dimension]) * share);
  return {
    human: rounded(input.human),
    identity: rounded(agePoints(input, nowTs) + rankPoints(input)),
    infra: evidence('infra'),
    malware: evidence('malware'),
    smtp: evidence('smtp'),
  };
}

export function scoreOf(dimensions: Dimensions): number {
  return rounded(DIMENSIONS.reduce((sum, name) => sum + dimensions[name], 0));
}

/** On an abused domain only the operator can list the domain: its evidence belongs to host names and URLs. */
export function isListed({ isAbused, human }: Pick<ScoreInput, 'isAbused' | 'human'>, score: number): boolean {
  return score <= LISTED_FROM && (!isAbused || human <= LISTED_FROM);
}

/** Whether the evidence on one host name lists this name. Whether the domain is abused does not matter for it. */
export function isHostnameListed(pieces: readonly Piece[], nowTs: number): boolean {
  return (
    scoreOf(dimensionsOf({ pieces, isAbused: false, createdTs: null, rank: null, human: 0 }, nowTs)) <= LISTED_FROM
  );
}

/** The first second at which the decay of the evidence alone ends the listing, at most 30 days from now. */
export function listedUntil(input: ScoreInput, nowTs: number): number {
  const isListedAt = (ts: number) => scoreAt(input, ts, nowTs) <= LISTED_FROM;
  const latestTs = nowTs + MAX_LISTED_SECONDS;
  return isListedAt(latestTs) ? latestTs : firstSecondNot(isListedAt, nowTs, latestTs);
}

/** The score at a later time if only the evidence decays: the age of the domain stays as it is now. */
function scoreAt(input: ScoreInput, ts: number, nowTs: number): number {
  const identity = rounded(agePoints(input, nowTs) + rankPoints(input));
  return scoreOf({ ...dimensionsOf(input, ts), identity });
}

/** Of the age of the domain. */
export function agePoints({ createdTs }: ScoreInput, nowTs: number): number {
  return createdTs !== null && nowTs - createdTs < NEW_DOMAIN_SECONDS ? NEW_DOMAIN_POINTS : 0;
}

/** Of its popularity. */
export function rankPoints({ rank }: ScoreInput): number {
  return rank === null || rank > MAX_RANK ? 0 : RANK_POINTS * (1 - Math.log10(rank) / 5);
}

/** To one decimal. Never −0, which JSON would print as 0 and a comparison would not. */
export function rounded(points: number): number {
  return Math.round(points * 10) / 10 + 0;
}
