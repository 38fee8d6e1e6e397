import type { AddressDataset } from '../core/evidence.ts';
import { foldFamily } from '../core/text.ts';
import { dayText } from '../core/time.ts';
import { LISTED_FROM } from '../reputation/score.ts';
import type { UrlEntry } from './content.ts';
import type { ListFilter } from './store.ts';

/** A filter at a time. Each check returns the part that does not fit, in words; null if all fits. */
export type ActiveFilter = {
  /** What was seen earlier is too old. */
  seenSinceTs: number;
  /** The first second at which something is too old. */
  tooOldTs(seenTs: number): number;
  status(status: UrlEntry['status']): string | null;
  age(seenTs: number): string | null;
  family(family: string | null): string | null;
  /** A reporter of URLs, or a source of listings and evidence. */
  source(name: string): string | null;
  dataset(dataset: AddressDataset): string | null;
  score(score: number): string | null;
  /** The highest score that fits; null if every score does. */
  maxScore: number | null;
  /** Nothing restricts families and sources. */
  isOpen: boolean;
};

export function activeFilter(filter: ListFilter, nowTs: number): ActiveFilter {
  const { maxAgeSeconds } = filter;
  const maxScore = maxScoreOf(filter);
  const families = new Set(filter.families.map(foldFamily));
  const sources = new Set(filter.reporters);
  const datasets = new Set(filter.datasets);
  const seenSinceTs = Math.max(0, nowTs - maxAgeSeconds);
  return {
    seenSinceTs,
    tooOldTs: (seenTs) => seenTs + maxAgeSeconds + 1,
    status: (status) =>
      filter.status === 'any' || filter.status === status
        ? null
        : `the status is ${status}, the list has ${filter.status}`,
    age: (seenTs) =>
      seenTs >= seenSinceTs
        ? null
        : `last seen ${dayText(seenTs)}, the list has what was seen in the last ${spanText(maxAgeSeconds)}`,
    family: (family) =>
      families.size === 0 || (family !== null && families.has(foldFamily(family)))
        ? null
        : `the malware family is ${family ?? 'unknown'}, the list has ${filter.families.join(', ')}`,
    source: (name) =>
      sources.size === 0 || sources.has(name)
        ? null
        : `reported by ${name === '' ? 'nobody by name' : name}, the list has ${filter.reporters.join(', ')}`,
    dataset: (dataset) =>
      datasets.size === 0 || datasets.has(dataset)
        ? null
        : `listed in ${dataset}, the list has ${filter.datasets.join(', ')}`,
    score: (score) =>
      maxScore === null || score <= maxScore
        ? null
        : `the score of the domain is ${score}, the list has ${maxScore} and lower`,
    maxScore,
    isOpen: families.size === 0 && sources.size === 0,
  };
}

/** A list of listed domains has no host of another domain, whatever its own bound is. */
function maxScoreOf({ maxScore, listedDomains }: ListFilter): number | null {
  return listedDomains ? Math.min(maxScore ?? LISTED_FROM, LISTED_FROM) : maxScore;
}

/** The parts of the filter that a URL does not fit. */
export function urlFaults(entry: UrlEntry, filter: ActiveFilter): string[] {
  const { status, seenTs, reporter } = entry;
  const faults = [filter.status(status), filter.age(seenTs), familyFault(entry, filter), filter.source(reporter)];
  return faults.filter((fault) => fault !== null);
}

/** Whether there are none. */
export function urlFits(entry: UrlEntry, filter: ActiveFilter): boolean {
  const { status, seenTs, reporter } = entry;
  if (filter.status(status) !== null || filter.age(seenTs) !== null) return false;
  return filter.isOpen || (familyFault(entry, filter) === null && filter.source(reporter) === null);
}

/** One family that fits is enough. */
function familyFault({ family, otherFamilies = [] }: UrlEntry, filter: ActiveFilter): string | null {
  return otherFamilies.some((other) => filter.family(other) === null) ? null : filter.family(family);
}

function spanText(seconds: number): string {
  const [unit, length] = (
    [
      ['day', 86_400],
      ['hour', 3_600],
    ] as const
  ).find(([, size]) => seconds % size === 0) ?? ['second', 1];
  const count = seconds / length;
  return count === 1 ? unit : `${count} ${unit}s`;
}
