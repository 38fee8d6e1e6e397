import type { Awaitable } from '../core/awaitable.ts';
import { rowPages } from '../database/pages.ts';
import type { UrlStore } from './store.ts';
import { isOnline } from './stored-timeline.ts';
import type { ImpliedChange, ImpliedOffline } from './timeline.ts';

/**
 * One feed and one URL. `ts`: the newest listing that has the URL. `missedTs`: the first complete listing after it, which
 * does not have the URL; null while the feed lists the URL.
 */
export type ListedRow = [feedId: number, feed: string, ts: number, missedTs: number | null];

/** Whether a listing of the feed that has the URL changes its row: an older listing than the stored one does not. */
export function isNewlyListed(rows: readonly ListedRow[], feedId: number, ts: number): boolean {
  const row = rows.find(([id]) => id === feedId);
  return row === undefined || row[2] < ts;
}

/** The effect of replacing the row of a feed among the rows of a URL; null when the implied offline stays the same. */
export function impliedChange(rows: readonly ListedRow[], row: ListedRow): ImpliedChange | null {
  const before = impliedBy(rows);
  const after = impliedBy([...rows.filter(([feedId]) => feedId !== row[0]), row]);
  return before?.ts === after?.ts && before?.reporter === after?.reporter ? null : { before, after };
}

/** A URL that no feed lists went offline when the last feed dropped it. It is online while one feed lists it. */
function impliedBy(rows: readonly ListedRow[]): ImpliedOffline | null {
  let latest: ImpliedOffline | null = null;
  for (const [, reporter, , ts] of rows) {
    if (ts === null) return null;
    if (latest === null || ts > latest.ts || (ts === latest.ts && reporter < latest.reporter))
      latest = { ts, reporter };
  }
  return latest;
}

/** A URL that a feed lists, with the columns that decide whether a listing without it takes it offline. */
export type ListedUrlRow = [
  urlId: number,
  /** Of the newest event. */
  kind: number | null,
  /** The newest listing of the feed that has the URL. */
  listedTs: number,
  isListedByOthers: 0 | 1,
  /** The newest `missedTs` of the other feeds. */
  missedByOthersTs: number | null,
  /** The newest confirmation of the newest event. */
  confirmedTs: number | null,
];

/**
 * Whether a listing of the feed at `ts` takes the URL offline: the listing does not have it, no other feed lists it, and
 * it was not seen online after the last feed dropped it.
 */
export function goesOffline(row: ListedUrlRow, ts: number): boolean {
  const [, kind, listedTs, isListedByOthers, missedByOthersTs, confirmedTs] = row;
  if (!isOnline(kind) || listedTs >= ts || isListedByOthers === 1) return false;
  return confirmedTs !== null && confirmedTs <= Math.max(ts, missedByOthersTs ?? 0);
}

type ListingReads = {
  feedId(feed: string): Awaitable<number | undefined>;
  /** The next `PAGE_ROWS` URLs that the feed lists, in order of id. */
  listedUrls(feedId: number, afterId: number): Awaitable<ListedUrlRow[]>;
};

/** Counts the URLs that a listing would take offline, page by page: a feed may list millions. */
export function createPagedListingEffect(reads: ListingReads): UrlStore['listingEffect'] {
  return async ({ feed, ts }) => {
    const effect = { online: 0, goingOffline: 0 };
    const feedId = await reads.feedId(feed);
    if (feedId === undefined) return effect;
    const pages = rowPages(
      (afterId: number) => reads.listedUrls(feedId, afterId),
      0,
      ([urlId]) => urlId,
    );
    for await (const rows of pages) {
      effect.online += rows.filter(([, kind]) => isOnline(kind)).length;
      effect.goingOffline += rows.filter((row) => goesOffline(row, ts)).length;
    }
    return effect;
  };
}
