import { setTimeout as pause } from 'node:timers/promises';
import { FIRST_LISTING, type ListingKey, type ReputationStore } from '../reputation/store.ts';
import { NEWEST_URLS, type UrlStore, type UrlTime } from '../urls/store.ts';

/** Each null while it was never counted. */
export type Counted = {
  countedTs: number | null;
  urls: number | null;
  online: number | null;
  listings: number | null;
  domains: number | null;
  /** The ids of URLs that are online, those that went online last; newest first. */
  newestIds: number[];
};

export type Totals = {
  /** Counts for the first time, in the background. */
  start(): void;
  /** The last counts; counts again in the background if they are old and data changed. */
  current(): Counted;
  /** Resolves when no count is in progress. */
  settled(): Promise<void>;
  close(): Promise<void>;
};

type TotalsOptions = {
  store: Pick<UrlStore, 'countUrls'> & Pick<ReputationStore, 'countListings' | 'countDomains'>;
  /** Another text after each change of the data. */
  changes(): Promise<string>;
  now(): number;
  /** For durations. */
  clockMs?(): number;
  onFailure(error: unknown): void;
};

/**
 * Totals are for people, and four million URLs are read in eight thousand pages: counting may take a hundredth of the time, but
 * numbers older than this are counted again. A new server counts in milliseconds and shows its first import soon.
 */
const MIN_AGE_SECONDS = { least: 10, most: 600, perSecondOfCounting: 100 };
/** Listings expire without a change of the data. */
const MAX_AGE_SECONDS = 86_400;
/** Between two pages, so that a count takes little of the time of requests. */
const PAUSE_MS = 2;

const NOT_COUNTED: Counted = {
  countedTs: null,
  urls: null,
  online: null,
  listings: null,
  domains: null,
  newestIds: [],
};

function minAgeSeconds(tookMs: number): number {
  const { least, most, perSecondOfCounting } = MIN_AGE_SECONDS;
  return Math.min(most, Math.max(least, (tookMs / 1_000) * perSecondOfCounting));
}

/** Counts what is stored, page by page: when it is started, and then the more seldom, the longer it takes. */
export function createTotals({
  store,
  changes,
  now,
  clockMs = () => performance.now(),
  onFailure,
}: TotalsOptions): Totals {
  const stop = new AbortController();
  let counted = NOT_COUNTED;
  let countedChanges = '';
  let checkedTs = 0;
  let tookMs = 0;
  let running: Promise<void> | null = null;

  async function count(): Promise<void> {
    const version = await changes();
    const age = now() - (counted.countedTs ?? 0);
    if (version === countedChanges && age < MAX_AGE_SECONDS) return;
    const startedTs = now();
    const startedMs = clockMs();
    try {
      const { urls, online, newest } = await countUrls();
      const listings = await countListings(startedTs);
      const domains = await countDomains();
      counted = { countedTs: startedTs, urls, online, listings, domains, newestIds: newest.map(({ id }) => id) };
      countedChanges = version;
    } finally {
      tookMs = clockMs() - startedMs; // also of a count that failed at its end
    }
  }

  async function countUrls() {
    let [urls, online] = [0, 0];
    let newest: UrlTime[] = [];
    for (let after: number | null = 0; after !== null; await breathe()) {
      const page = await store.countUrls(after);
      urls += page.urls;
      online += page.online;
      newest = [...newest, ...page.newest].sort((a, b) => b.ts - a.ts || b.id - a.id).slice(0, NEWEST_URLS);
      after = page.next;
    }
    return { urls, online, newest };
  }

  async function countListings(nowTs: number): Promise<number> {
    let live = 0;
    for (let after: ListingKey | null = FIRST_LISTING; after !== null; await breathe()) {
      const page: { live: number; next: ListingKey | null } = await store.countListings(after, nowTs);
      live += page.live;
      after = page.next;
    }
    return live;
  }

  async function countDomains(): Promise<number> {
    let domains = 0;
    for (let after: number | null = 0; after !== null; await breathe()) {
      const page = await store.countDomains(after);
      domains += page.domains;
      after = page.next;
    }
    return domains;
  }

  const breathe = () => pause(PAUSE_MS, undefined, { signal: stop.signal, ref: false });

  function start(): void {
    checkedTs = now();
    running = count()
      .catch((error) => {
        if (!stop.signal.aborted) onFailure(error);
      })
      .finally(() => {
        running = null;
      });
  }

  return {
    start,
    current() {
      const age = now() - checkedTs;
      // A clock that was set back makes the age negative.
      if (running === null && !stop.signal.aborted && (age >= minAgeSeconds(tookMs) || age < 0)) start();
      return counted;
    },
    settled: async () => void (await running),
    async close() {
      stop.abort();
      await running;
    },
  };
}
