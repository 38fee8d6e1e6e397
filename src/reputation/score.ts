/**
 * The score of a domain: five dimensions and their sum. A pure function of what is stored and of the time of the
 * question; nothing is computed in advance.
 *
 *     one source, one dimension   x = Σ weight · 2^(−age / half-life), over its 64 largest pieces of evidence
 *                                 p = trust · (1 − e^(−x))
 *     one dimension               −M · (1 − Π (1 − p)) · s
 *
 * s is 0.2 for a domain that is abused, otherwise 1. docs/reputation.md explains it with a worked example.
 */

const DAY = 86_400;

export const DIMENSIONS = ['human', 'identity', 'infra', 'malware', 'smtp'] as const;
export type DimensionName = (typeof DIMENSIONS)[number];

/** The dimensions that follow from evidence, and the most points that each can take away. */
const MAX_POINTS = { infra: 15, malware: 40, smtp: 15 } as const;
export type EvidenceDimension = keyof typeof MAX_POINTS;

export type EvidenceKind = 'url' | 'botnetcc' | 'malware' | 'phishing' | 'infra-listing' | 'sender-listing';

/** By kind: its weight, how many seconds until it counts half, and the dimension that it counts in. */
export const EVIDENCE: Record<EvidenceKind, { weight: number; halfLife: number; dimension: EvidenceDimension }> = {
  url: { weight: 0.7, halfLife: 14 * DAY, dimension: 'malware' },
  botnetcc: { weight: 1.5, halfLife: 30 * DAY, dimension: 'malware' },
  malware: { weight: 0.7, halfLife: 14 * DAY, dimension: 'malware' },
  phishing: { weight: 0.7, halfLife: 3 * DAY, dimension: 'infra' },
  'infra-listing': { weight: 0.7, halfLife: 14 * DAY, dimension: 'infra' },
  'sender-listing': { weight: 0.7, halfLife: 7 * DAY, dimension: 'smtp' },
};

/** Pieces of evidence of one source that count in one dimension. */
export const MAX_PIECES = 64;

/** What an abused domain keeps of its evidence. */
const ABUSED_SHARE = 0.2;

const LISTED_FROM = -10;
const MAX_LISTED_SECONDS = 30 * DAY;

/** A domain that was registered within this time loses points. */
const NEW_DOMAIN_SECONDS = 30 * DAY;
const NEW_DOMAIN_POINTS = -5;

/** A rank beyond this adds nothing. */
const MAX_RANK = 100_000;
const RANK_POINTS = 10;

/** One (source, host name, kind), or one URL. */
export type Piece = {
  source: string;
  kind: EvidenceKind;
  ts: number;
  /** 1 to 100; only with `botnetcc` and `malware`. */
  confidence?: number;
};

export type ScoreInput = {
  pieces: readonly Piece[];
  /** From 0 to 0.9, by source. */
  trustOf(source: string): number;
  isAbused: boolean;
  createdTs: number | null;
  /** The best rank in a popularity list. */
  rank: number | null;
  /** Set by the operator, −50 to 50. */
  human: number;
};

export type Dimensions = Record<DimensionName, number>;

/** The part of one source in one dimension: its pieces, the newest first, and what they take away together. */
export type SourceShare = { dimension: EvidenceDimension; source: string; p: number; newestTs: number };

export function contribution({ kind, ts, confidence = 100 }: Piece, nowTs: number): number {
  const { weight, halfLife } = EVIDENCE[kind];
  const factor = kind === 'botnetcc' || kind === 'malware' ? confidence / 100 : 1;
  return weight * factor * 2 ** (-Math.max(0, nowTs - ts) / halfLife);
}

export function sourceShares({ pieces, trustOf }: ScoreInput, nowTs: number): SourceShare[] {
  const groups = Map.groupBy(pieces, ({ kind, source }) => `${EVIDENCE[kind].dimension} ${source}`);
  return [...groups.values()].map((group) => {
    const [{ kind, source }] = group as [Piece];
    const largest = group.map((piece) => contribution(piece, nowTs)).sort((a, b) => b - a);
    const x = largest.slice(0, MAX_PIECES).reduce((sum, one) => sum + one, 0);
    const newestTs = Math.max(...group.map(({ ts }) => ts));
    return { dimension: EVIDENCE[kind].dimension, source, p: trustOf(source) * (1 - Math.exp(-x)), newestTs };
  });
}

export function dimensionsOf(input: ScoreInput, nowTs: number): Dimensions {
  const clean = { infra: 1, malware: 1, smtp: 1 };
  for (const { dimension, p } of sourceShares(input, nowTs)) clean[dimension] *= 1 - p;
  const share = input.isAbused ? ABUSED_SHARE : 1;
  const evidence = (dimension: EvidenceDimension) => rounded(-MAX_POINTS[dimension] * (1 - clean[dimension]) * share);
  return {
    human: rounded(input.human),
    identity: rounded(identityPoints(input, nowTs)),
    infra: evidence('infra'),
    malware: evidence('malware'),
    smtp: evidence('smtp'),
  };
}

export function scoreOf(dimensions: Dimensions): number {
  return rounded(DIMENSIONS.reduce((sum, name) => sum + dimensions[name], 0));
}

/** On an abused domain only the operator can list the domain: its evidence belongs to host names and URLs. */
export function isListed({ isAbused, human }: ScoreInput, score: number): boolean {
  return isAbused ? human <= LISTED_FROM && score <= LISTED_FROM : score <= LISTED_FROM;
}

/** The first second at which the decay of the evidence alone ends the listing, at most 30 days from now. */
export function listedUntil(input: ScoreInput, nowTs: number): number {
  const isListedAt = (ts: number) => scoreAt(input, ts, nowTs) <= LISTED_FROM;
  let [listed, free] = [nowTs, nowTs + MAX_LISTED_SECONDS];
  if (isListedAt(free)) return free;
  while (free - listed > 1) {
    const middle = Math.floor((listed + free) / 2);
    if (isListedAt(middle)) listed = middle;
    else free = middle;
  }
  return free;
}

/** The score at a later time if only the evidence decays: the age of the domain stays as it is now. */
function scoreAt(input: ScoreInput, ts: number, nowTs: number): number {
  return scoreOf({ ...dimensionsOf(input, ts), identity: rounded(identityPoints(input, nowTs)) });
}

function identityPoints({ createdTs, rank }: ScoreInput, nowTs: number): number {
  const isNew = createdTs !== null && nowTs - createdTs < NEW_DOMAIN_SECONDS;
  const popularity = rank === null || rank > MAX_RANK ? 0 : RANK_POINTS * (1 - Math.log10(rank) / 5);
  return (isNew ? NEW_DOMAIN_POINTS : 0) + popularity;
}

/** To one decimal. Never −0, which JSON would print as 0 and a comparison would not. */
function rounded(points: number): number {
  return Math.round(points * 10) / 10 + 0;
}
