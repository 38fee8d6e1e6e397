import { lifeOf, type SourceLife } from './episode-rules.ts';
import { datasetOf, listingKey } from './listing-rows.ts';
import type { ListingKey } from './store.ts';

/** The key of an episode, when it was last seen, and the life that its source sets. */
export type CountedRow = [...ListingKey, seenTs: number, lifeSeconds: number | null, intervalSeconds: number | null];

/** `next` is null unless the page is full. */
export function countLive(rows: readonly CountedRow[], pageRows: number, nowTs: number) {
  const live = rows.filter(([, , dataset, , , , , seenTs, lifeSeconds, intervalSeconds]) => {
    const life: SourceLife = { lifeSeconds, intervalSeconds };
    return nowTs < seenTs + lifeOf(life, datasetOf(dataset));
  });
  const last = rows.length < pageRows ? undefined : rows.at(-1);
  return { live: live.length, next: last === undefined ? null : listingKey(last) };
}
