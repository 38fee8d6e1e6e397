import { firstSecondNot } from '../core/first-second.ts';

/** When the content of a list changes although the data stay the same: the earliest of the times that were given. */
export type ListEnd = {
  at(ts: number | null): void;
  /** The first second at which `holds` is false. It must hold now, and must not hold again once it does not. */
  whenNot(holds: (ts: number) => boolean): void;
  earliest(): number | null;
};

/** Later ends are not searched for: the list is built again before. */
const MAX_SEARCH_SECONDS = 30 * 86_400;

export function createListEnd(nowTs: number): ListEnd {
  let earliest: number | null = null;
  const at = (ts: number | null) => {
    if (ts !== null && ts > nowTs && (earliest === null || ts < earliest)) earliest = ts;
  };
  return {
    at,
    // Of many conditions most hold until the earliest end known so far, and need no search.
    whenNot(holds) {
      const last = Math.min((earliest ?? Number.POSITIVE_INFINITY) - 1, nowTs + MAX_SEARCH_SECONDS);
      if (!holds(last)) at(firstSecondNot(holds, nowTs, last));
    },
    earliest: () => earliest,
  };
}
