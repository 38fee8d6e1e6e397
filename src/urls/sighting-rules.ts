import type { Entry } from './timeline.ts';

/** The first and the newest time that a URL was seen online. */
export type OnlineSpan = { firstTs: number; lastTs: number };

/**
 * The span of the online runs among these entries; null without any. It does not depend on the order of arrival: the first
 * and the newest sighting of a run are kept whenever a run is extended, split or cut by an implied offline. So for a known
 * URL the entries that change are enough: without one that is online, neither time has changed.
 */
export function onlineSpan(entries: readonly Entry[]): OnlineSpan | null {
  let span: OnlineSpan | null = null;
  for (const { ts, kind, confirmedTs } of entries) {
    if (confirmedTs === null || (kind !== 'added' && kind !== 'online')) continue;
    if (span === null) span = { firstTs: ts, lastTs: confirmedTs };
    else {
      span.firstTs = Math.min(span.firstTs, ts);
      span.lastTs = Math.max(span.lastTs, confirmedTs);
    }
  }
  return span;
}
