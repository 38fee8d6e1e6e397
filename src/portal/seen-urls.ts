import type { TimeWindow } from '../core/time.ts';
import type { Fact, SearchKey, UrlStore, UrlSummary } from '../urls/store.ts';
import { factsIn } from '../urls/wire.ts';

/** Facts that are read for a list on a page: two pages of a search, a few milliseconds. */
const MAX_FACTS = 2_000;

export type SeenUrls = {
  /** One for each URL, its newest; newest first. */
  facts: Fact[];
  /** All facts were read. */
  isComplete: boolean;
};

/** The URLs that a search finds, without reading a result of any size. */
export async function seenUrls(store: Pick<UrlStore, 'search'>, key: SearchKey, window: TimeWindow): Promise<SeenUrls> {
  const newest = new Map<number, Fact>();
  const bounds = { limit: MAX_FACTS, signal: new AbortController().signal };
  let count = 0;
  for await (const lines of store.search(key, window, bounds)) {
    for (const fact of factsIn(lines)) {
      if (fact.ts > (newest.get(fact.id)?.ts ?? -1)) newest.set(fact.id, fact);
      count++;
    }
  }
  const facts = [...newest.values()].sort((a, b) => b.ts - a.ts || b.id - a.id);
  return { facts, isComplete: count < MAX_FACTS };
}

/** The first `max` of them, with their last status and family and the time of the fact, and whether there are more. */
export async function firstUrls(
  store: Pick<UrlStore, 'urlSummaries'>,
  { facts, isComplete }: SeenUrls,
  max: number,
): Promise<{ urls: UrlSummary[]; isTruncated: boolean }> {
  const tsById = new Map(facts.slice(0, max).map(({ id, ts }) => [id, ts]));
  const summaries = await store.urlSummaries([...tsById.keys()]);
  // The last status may have begun long before the URL was seen there.
  const urls = summaries.map((summary) => ({ ...summary, ts: tsById.get(summary.id) ?? summary.ts }));
  return { urls, isTruncated: facts.length > max || !isComplete };
}
