import { pageOf, readPages } from '../database/pages.ts';
import type { UrlStore } from './store.ts';
import { isOnline } from './stored-timeline.ts';
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

/** A URL that a feed lists, and what decides whether a listing without it takes it offline. */
export type ListedUrlRow = [
  urlId: number,
  /** Of the newest event. */
  kind: number | null,
  /** The newest listing of the feed that has the URL. */
  listedTs: number,
  isListedByOthers: 0 | 1,
  /** The newest listing of another feed from which the URL is missing. */
  missedByOthersTs: number | null,
  /** The newest sighting of the run that the newest event began. */
  confirmedTs: number | null,
];

/**
 * Whether a listing of the feed at `ts` takes the URL offline: the listing does not have it, no other feed lists it, and
 * nobody saw it online after the time at which the last feed dropped it.
 */
export function goesOffline(row: ListedUrlRow, ts: number): boolean {
  const [, kind, listedTs, isListedByOthers, missedByOthersTs, confirmedTs] = row;
  if (!isOnline(kind) || listedTs >= ts || isListedByOthers === 1) return false;
  return confirmedTs !== null && confirmedTs <= Math.max(ts, missedByOthersTs ?? 0);
}

type ListingReads = {
  feedId(feed: string): number | undefined | Promise<number | undefined>;
  /** The next `PAGE_ROWS` URLs that the feed lists, in order of id. */
  listedUrls(feedId: number, afterId: number): ListedUrlRow[] | Promise<ListedUrlRow[]>;
};

/** Counts what a listing would take offline, page by page: a feed may list millions of URLs. */
export function createPagedListingEffect(reads: ListingReads): UrlStore['listingEffect'] {
  return async ({ feed, ts }) => {
    const effect = { online: 0, goingOffline: 0 };
    const feedId = await reads.feedId(feed);
    if (feedId === undefined) return effect;
    const bounds = { limit: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
    const pages = readPages<ListedUrlRow, number>(0, bounds, async (afterId) => {
      const rows = await reads.listedUrls(feedId, afterId);
      return pageOf(
        rows,
        (row) => row,
        ([urlId]) => urlId,
      );
    });
    for await (const rows of pages) {
      effect.online += rows.filter(([, kind]) => isOnline(kind)).length;
      effect.goingOffline += rows.filter((row) => goesOffline(row, ts)).length;
    }
    return effect;
  };
}
