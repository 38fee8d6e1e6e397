import type { Observation } from '../core/observation.ts';
import type { Listing as ListingTime, UrlStore } from '../urls/store.ts';
import { type Batch, type ListedUrl, timeFault } from './batch.ts';
import type { ImportReport } from './report.ts';
import { openNameless } from './sources/temporary-file.ts';
import { addCounts, type ImportCounts } from './store.ts';

export type CompleteListingOptions = {
  into: { store: UrlStore } | null;
  feed: string;
  nowTs: () => number;
  asOfTs?: number | null;
  isForced?: boolean;
  signal?: AbortSignal;
};

export type ImportEndState = Pick<ImportReport, 'outcome' | 'error' | 'listingTs'>;

export type CompleteListing = {
  add(batch: Batch): Promise<void>;
  /** To be called when the source was read to a clean end. */
  finish(counts: ImportCounts): Promise<ImportEndState>;
  close(): Promise<void>;
};

/** Above this share something is wrong with the listing more often than with the world. */
const OFFLINE_SHARE_MAX = 0.5;

const NAMES_SIZE = 1_000;

/**
 * A complete listing. Its time may stand in its last row, so the URLs that it names are put aside and named when all was
 * read: a run that is cut off before has named nothing at a wrong time.
 */
export async function openCompleteListing(options: CompleteListingOptions): Promise<CompleteListing> {
  const { into, feed, nowTs, asOfTs, isForced = false, signal } = options;
  const names = await openListedUrls();
  let newestTs: number | null = null;
  let endsInReject = false;

  async function nameAll(store: UrlStore, listing: ListingTime, counts: ImportCounts): Promise<void> {
    for await (const urls of names.read(NAMES_SIZE)) {
      if (signal?.aborted) return;
      const observations = urls.map((url) => named(url, listing.ts));
      addCounts(counts, await store.apply(observations, listing));
    }
  }

  async function apply(store: UrlStore, listing: ListingTime, counts: ImportCounts): Promise<ImportEndState> {
    await nameAll(store, listing, counts);
    if (signal?.aborted) return { outcome: 'stopped', error: null, listingTs: null };
    const { online, goingOffline } = await store.listingEffect(listing);
    if (!isForced && goingOffline > online * OFFLINE_SHARE_MAX) {
      const share = `${goingOffline} of the ${online} online URLs of ${feed}`;
      return refused(`It would take ${share} offline, more than half: if it is complete, add --force.`);
    }
    addCounts(counts, await store.finishListing(listing));
    return { outcome: 'done', error: null, listingTs: listing.ts };
  }

  return {
    async add(batch) {
      newestTs = batch.newestTs;
      endsInReject = batch.endsInReject;
      if (batch.listed.length > 0) await names.add(batch.listed);
    },

    async finish(counts) {
      const ts = asOfTs ?? newestTs;
      if (ts === null) return refused('There is no time in it: tell it with --as-of.');
      if (timeFault(ts, nowTs()) !== null) return refused('Its time lies more than a day ahead: tell it with --as-of.');
      if (endsInReject && !isForced)
        return refused('Its last row cannot be used, as if it had been cut off there: if it is complete, add --force.');
      if (into === null) return { outcome: 'done', error: null, listingTs: ts };
      return apply(into.store, { feed, ts }, counts);
    },

    close: () => names.close(),
  };
}

function refused(reason: string): ImportEndState {
  const error = `${reason} Its rows were applied, but nothing that is missing from it was taken offline.`;
  return { outcome: 'refused', error, listingTs: null };
}

/** No sighting: when it was seen is for the rows to tell. */
function named({ url, host }: ListedUrl, ts: number): Observation {
  return { ts, url, host, status: null, removal: '', reporter: '', addresses: [], payload: null };
}

export type ListedUrls = {
  add(urls: readonly ListedUrl[]): Promise<void>;
  /** All of them, `size` at a time. */
  read(size: number): AsyncGenerator<ListedUrl[]>;
  close(): Promise<void>;
};

/** URLs put aside until the end of their source is known, on disk: there may be millions. */
export async function openListedUrls(): Promise<ListedUrls> {
  const file = await openNameless();
  return {
    async add(urls) {
      await file.appendFile(urls.map(({ url, host }) => `${JSON.stringify([url, host])}\n`).join(''));
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
