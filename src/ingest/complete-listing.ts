import { NO_TAGS, type Observation } from '../core/observation.ts';
import type { Listing } from '../urls/store.ts';
import type { Batch, ListedUrl } from './batch.ts';
import { timeFault } from './json-checks.ts';
import type { ImportStores } from './retry.ts';
import { appendTo, openUnnamedFile } from './sources/temporary-file.ts';
import { addCounts, type ImportCounts, type ImportOutcome } from './store.ts';

type CompleteListingOptions = {
  into: Pick<ImportStores, 'store'> | null;
  feed: string;
  nowTs: () => number;
  asOfTs?: number | null;
  isForced?: boolean;
  signal?: AbortSignal;
};

/** How an import ended. */
export type ImportEndState = {
  outcome: ImportOutcome;
  /** Why a complete listing or the deletions of a list were not applied, or why no row could be used; null otherwise. */
  error: string | null;
  /** The time of a complete listing that was applied. */
  listingTs: number | null;
};

export type CompleteListing = {
  add(batch: Batch): Promise<void>;
  /** Call this only after the whole source was read without an error. */
  finish(counts: ImportCounts): Promise<ImportEndState>;
  close(): Promise<void>;
};

type ListingStore = ImportStores['store'];

/** Above this share a truncated source is more likely than a real change. */
export const LOST_SHARE_MAX = 0.5;

/** URLs marked as listed in one transaction. */
const PAGE_SIZE = 1_000;

export const FORCE_HINT = 'If the source is complete, run it again with --force.';
const AS_OF_HINT = 'Import it again with --as-of TIME.';

/**
 * Applies a complete listing. Its time may be in its last row, so its URLs are buffered and marked as listed only after
 * the whole source was read. An import that is interrupted earlier marks nothing at a wrong time.
 */
export async function openCompleteListing(options: CompleteListingOptions): Promise<CompleteListing> {
  const { into, feed, nowTs, asOfTs, isForced = false, signal } = options;
  const listedUrls = await openListedUrls();
  let newestTs: number | null = null;
  let endsInReject = false;

  function refused(reason: string, hint: string): ImportEndState {
    const effect = into === null ? '' : ' Its rows were applied, but no URL was taken offline.';
    return { outcome: 'refused', error: `${reason}${effect} ${hint}`, listingTs: null };
  }

  async function markAllListed(store: ListingStore, listing: Listing, counts: ImportCounts): Promise<void> {
    for await (const urls of listedUrls.read(PAGE_SIZE)) {
      if (signal?.aborted) return;
      const observations = urls.map((url) => toListedObservation(url, listing.ts));
      addCounts(counts, await store.apply(observations, listing));
    }
  }

  async function apply(store: ListingStore, listing: Listing, counts: ImportCounts): Promise<ImportEndState> {
    await markAllListed(store, listing, counts);
    if (signal?.aborted) return { outcome: 'stopped', error: null, listingTs: null };
    const { online, goingOffline } = await store.listingEffect(listing);
    if (!isForced && goingOffline > online * LOST_SHARE_MAX) {
      const share = `${goingOffline} of the ${online} online URLs of ${feed}`;
      return refused(`The listing would take ${share} offline, more than half.`, FORCE_HINT);
    }
    const { wentOffline } = await store.finishListing(listing);
    addCounts(counts, { wentOffline, newestEventTs: wentOffline > 0 ? listing.ts : null });
    return { outcome: 'done', error: null, listingTs: listing.ts };
  }

  return {
    async add(batch) {
      newestTs = batch.newestTs;
      endsInReject = batch.endsInReject;
      if (batch.listed.length > 0) await listedUrls.add(batch.listed);
    },

    async finish(counts) {
      // Without rows it gets here only by force, or as a feed, which was fetched now.
      const ts = asOfTs ?? newestTs ?? (counts.read === 0 ? nowTs() : null);
      if (ts === null) return refused('The listing contains no time.', AS_OF_HINT);
      if (timeFault(ts, nowTs()) !== null)
        return refused('The time of the listing is more than a day in the future.', AS_OF_HINT);
      if (endsInReject && !isForced)
        return refused('The last row of the listing was rejected, so the listing may be cut off.', FORCE_HINT);
      if (into === null) return { outcome: 'done', error: null, listingTs: ts };
      return apply(into.store, { feed, ts }, counts);
    },

    close: () => listedUrls.close(),
  };
}

/** No status: only the rows say when a URL was seen. */
function toListedObservation({ url, host }: ListedUrl, ts: number): Observation {
  return { ts, url, host, status: null, removal: '', reporter: '', addresses: [], payload: null, tags: NO_TAGS };
}

type ListedUrls = {
  add(urls: readonly ListedUrl[]): Promise<void>;
  /** Yields all URLs in pages of `size`. */
  read(size: number): AsyncGenerator<ListedUrl[]>;
  close(): Promise<void>;
};

/** Buffers the URLs of a listing in a temporary file: there may be millions. */
async function openListedUrls(): Promise<ListedUrls> {
  const file = await openUnnamedFile();
  return {
    async add(urls) {
      await appendTo(file, urls.map(({ url, host }) => `${JSON.stringify([url, host])}\n`).join(''));
    },

    async *read(size) {
      let urls: ListedUrl[] = [];
      for await (const line of file.readLines({ start: 0, autoClose: false })) {
        const [url, host] = JSON.parse(line) as [string, string];
        if (urls.push({ url, host }) < size) continue;
        yield urls;
        urls = [];
      }
      if (urls.length > 0) yield urls;
    },

    close: () => file.close(),
  };
}
