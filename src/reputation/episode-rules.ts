import type { AddressDataset, Source } from '../core/evidence.ts';
import { DAY_SECONDS } from '../core/time.ts';
import { isRecordedAgain } from '../database/changes.ts';

/**
 * A listing is an episode: evidence for the same network, dataset, family, port and source, without a gap longer than its
 * life. Evidence is an interval: `fromTs` … `ts`, usually one second.
 *
 *     life 7 days, evidence on day 1, 3, 9 and 20
 *     → day 1 … 9 (the gaps are 2 and 6 days), day 20 … 20
 *
 * Two intervals belong together if the gap between them is at most the life. That is independent of the order in which
 * they arrive, and the same evidence again changes nothing.
 */
export type Episode = {
  listedTs: number;
  seenTs: number;
  /** What the newest evidence says besides, as JSON with sorted keys; '' for nothing. */
  details: string;
};

/** How long a listing lives after its newest evidence, by dataset. */
const LIFE_SECONDS: Record<AddressDataset, number> = {
  XBL: 7 * DAY_SECONDS,
  CSS: 3 * DAY_SECONDS,
  BCL: 7 * DAY_SECONDS,
  DROP: 3 * DAY_SECONDS,
};

/** A network stays on the DROP list for months: it survives this many failed fetches. */
const DROP_INTERVALS = 3;

export type SourceLife = Pick<Source, 'lifeSeconds' | 'intervalSeconds'>;

export function lifeOf({ lifeSeconds, intervalSeconds }: SourceLife, dataset: AddressDataset): number {
  if (lifeSeconds !== null) return lifeSeconds;
  const fixed = LIFE_SECONDS[dataset];
  return dataset === 'DROP' ? Math.max(fixed, DROP_INTERVALS * (intervalSeconds ?? 0)) : fixed;
}

/** No listing of these sources lives longer. */
export function longestLife(sources: Iterable<SourceLife>): number {
  let longest = Math.max(...Object.values(LIFE_SECONDS));
  for (const { lifeSeconds, intervalSeconds } of sources) {
    longest = Math.max(longest, lifeSeconds ?? DROP_INTERVALS * (intervalSeconds ?? 0));
  }
  return longest;
}

/** The episodes of one key, in order of time, after evidence was added. Their order in `known` does not matter. */
export function mergeEpisodes(known: readonly Episode[], evidence: readonly Episode[], lifeSeconds: number): Episode[] {
  const merged: Episode[] = [];
  for (const next of [...known, ...evidence].sort((a, b) => a.listedTs - b.listedTs)) {
    const last = merged.at(-1);
    if (last === undefined || next.listedTs - last.seenTs > lifeSeconds) merged.push({ ...next });
    else merged[merged.length - 1] = joined(last, next);
  }
  return merged;
}

/** The rows to write so that the episodes of a key are `merged`. A row is identified by its `listedTs`. */
export function episodeChanges(
  known: readonly Episode[],
  merged: readonly Episode[],
): { puts: Episode[]; deletes: Episode[] } {
  const left = new Map(known.map((episode) => [episode.listedTs, episode]));
  const puts = merged.filter((episode) => {
    const old = left.get(episode.listedTs);
    left.delete(episode.listedTs);
    return old === undefined || old.seenTs !== episode.seenTs || old.details !== episode.details;
  });
  return { puts, deletes: [...left.values()] };
}

/**
 * What the change feed records when the episodes near some evidence become `merged`; null: nothing. A listing that ended and
 * begins again is added again: readers have dropped it at its end.
 */
export function recordedOperation(known: readonly Episode[], merged: readonly Episode[]): 'add' | 'update' | null {
  if (known.length === 0) return 'add';
  const old = newestOf(known);
  const now = newestOf(merged);
  const isSame = old.listedTs === now.listedTs && !isRecordedAgain(now.listedTs, old.seenTs, now.seenTs);
  return isSame ? null : 'update';
}

function newestOf(episodes: readonly Episode[]): Episode {
  return episodes.reduce((newest, episode) => (episode.seenTs > newest.seenTs ? episode : newest));
}

function joined(a: Episode, b: Episode): Episode {
  const newest = isNewer(b, a) ? b : a;
  return { listedTs: Math.min(a.listedTs, b.listedTs), seenTs: newest.seenTs, details: newest.details };
}

/** Of two sightings of one second, the one with the greater text: any fixed rule makes the order of arrival irrelevant. */
function isNewer(a: Episode, b: Episode): boolean {
  return a.seenTs === b.seenTs ? a.details > b.details : a.seenTs > b.seenTs;
}
