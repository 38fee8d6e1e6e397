import type { ImpliedOffline } from './timeline.ts';

/** What one feed's listings say of a URL: the newest that named it, and the one that misses it. */
export type ListedRow = [feedId: number, feed: string, ts: number, missedTs: number | null];

/** How the implied offline of a URL changed. */
export type ImpliedChange = { before: ImpliedOffline | null; after: ImpliedOffline | null };

/** What follows when a feed's row takes the place of its old one; null when nothing does. */
export function impliedChange(rows: readonly ListedRow[], row: ListedRow): ImpliedChange | null {
  const before = impliedBy(rows);
  const after = impliedBy([...rows.filter(([feedId]) => feedId !== row[0]), row]);
  return before?.ts === after?.ts && before?.reporter === after?.reporter ? null : { before, after };
}

/**
 * A URL that no feed lists any more went offline when the last feed dropped it. A feed that still lists it speaks
 * against all others.
 */
function impliedBy(rows: readonly ListedRow[]): ImpliedOffline | null {
  let latest: ImpliedOffline | null = null;
  for (const [, reporter, , ts] of rows) {
    if (ts === null) return null;
    if (latest === null || ts > latest.ts || (ts === latest.ts && reporter < latest.reporter))
      latest = { ts, reporter };
  }
  return latest;
}
