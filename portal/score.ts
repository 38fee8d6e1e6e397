import type { DomainPageResponse } from '../src/portal/schemas.ts';
import { agoText, dateText, nowTs } from './format.ts';

// The score of a domain in words and lengths.

/** In the order of how much they can take away. */
export const DIMENSIONS: readonly { name: string; title: string; meaning: string }[] = [
  { name: 'malware', title: 'Malware', meaning: 'malware URLs, and sources that name the domain' },
  { name: 'infra', title: 'Infrastructure', meaning: 'phishing, and listed addresses or name servers' },
  { name: 'smtp', title: 'Mail', meaning: 'listed senders of mail' },
  { name: 'identity', title: 'Identity', meaning: 'age and popularity' },
  { name: 'human', title: 'By hand', meaning: 'set by an administrator' },
];

/** Evidence of malware takes at most 40 points away, so this is the usual length of half a bar. */
const USUAL_POINTS = 40;

/** A domain is listed at this score or lower. */
export const LISTED_SCORE = -10;

type DimensionBar = { title: string; meaning: string; points: number; share: number };

/** `share` is of half the bar, 0 to 1. All bars have the same scale. */
export function dimensionBars(dimensions: Readonly<Record<string, number>>): DimensionBar[] {
  const most = Math.max(USUAL_POINTS, ...Object.values(dimensions).map(Math.abs));
  return DIMENSIONS.map(({ name, title, meaning }) => {
    const points = dimensions[name] ?? 0;
    return { title, meaning, points, share: Math.abs(points) / most };
  });
}

export const dimensionTitle = (name: string): string => DIMENSIONS.find((one) => one.name === name)?.title ?? name;

/** `−18.1`, `+3.8`, `0.0`: with a minus sign that is as wide as the plus sign. */
export function pointsText(points: number): string {
  const text = Math.abs(points).toFixed(1);
  if (text === '0.0') return text;
  return `${points < 0 ? '−' : '+'}${text}`;
}

export type DomainVerdict = { state: 'listed' | 'abused' | 'known' | 'unknown'; text: string };

type VerdictInput = Pick<
  DomainPageResponse,
  'known' | 'listed' | 'abused' | 'listed_until_ts' | 'evidence_ts' | 'reasons'
>;

/** The dimensions that follow from evidence. */
const EVIDENCE = ['malware', 'infra', 'smtp'];

const MISUSED = 'a good site that somebody misused: block its bad host names and URLs, not the domain';

/** A popular site counts as abused before anything happened there. Without evidence this is nothing to report. */
export function domainVerdict(report: VerdictInput, now = nowTs()): DomainVerdict {
  const { known, listed, abused, listed_until_ts: untilTs, evidence_ts: evidenceTs, reasons } = report;
  if (!known) return { state: 'unknown', text: 'Nothing is known about this domain. That does not make it safe.' };
  const hasEvidence = evidenceTs !== null && reasons.some(({ dimension }) => EVIDENCE.includes(dimension));
  const newest = hasEvidence ? [`newest evidence ${agoText(evidenceTs, now)}`] : [];
  if (listed) {
    const until = untilTs === null ? [] : [`until ${dateText(untilTs)} unless it is seen again`];
    return { state: 'listed', text: [...until, ...newest].join(', ') };
  }
  if (!hasEvidence) return { state: 'known', text: 'no evidence against it' };
  return abused
    ? { state: 'abused', text: [MISUSED, ...newest].join('; ') }
    : { state: 'known', text: newest.join('') };
}

/** How much it counts stands at the end of the text. */
const WEIGHT = /^(.*)\. (Weight [^.]*\.?\d* after its age, trust \S+)$/s;

/** Without the name of the source, which is shown beside it, and with the weight by itself. */
export function reasonParts(text: string, source: string): { text: string; weight: string | null } {
  const own = text.startsWith(`${source}: `) ? text.slice(source.length + 2) : text;
  const [, words = own, weight] = WEIGHT.exec(own) ?? [];
  return { text: words.charAt(0).toUpperCase() + words.slice(1), weight: weight?.toLowerCase() ?? null };
}
