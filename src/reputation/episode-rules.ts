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

function joined(a: Episode, b: Episode): Episode {
  const newest = isNewer(b, a) ? b : a;
  return { listedTs: Math.min(a.listedTs, b.listedTs), seenTs: newest.seenTs, details: newest.details };
}

/** Of two sightings of one second, the one with the greater text: any fixed rule makes the order of arrival irrelevant. */
function isNewer(a: Episode, b: Episode): boolean {
  return a.seenTs === b.seenTs ? a.details > b.details : a.seenTs > b.seenTs;
}
