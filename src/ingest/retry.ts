import { setTimeout as wait } from 'node:timers/promises';
import { AppError, isTransient } from '../core/errors.ts';
import type { ReputationStore } from '../reputation/store.ts';
import type { UrlStore } from '../urls/store.ts';
import type { ImportRecorder } from './import-record.ts';
import type { FeedStore, ImportStore } from './store.ts';
import { ABORTED, orAborted } from './until-aborted.ts';

/** An import waits for its database. */
export type Waiting = {
  /** Why the last attempt failed. */
  reason: string;
  /** Since the first failure. */
  seconds: number;
};

export type RetryOptions = {
  /** Ends the wait at once. */
  signal?: AbortSignal | undefined;
  /** Called after each failed attempt. */
  onWaiting?: ((waiting: Waiting) => void) | undefined;
  retryForMs?: number | undefined;
  pauseMs?: number | undefined;
};

/**
 * How long a write is repeated after its first failure. Patroni, with its defaults, promotes a standby within 30 to 40 s.
 * With the 20 s that the first failure may take, the wait is shorter than what is left of a lease (`feeds/feed-run.ts`).
 */
const RETRY_FOR_MS = 60_000;

/** A refused connection fails in less than a millisecond. */
const PAUSE_MS = 1_000;

type Retry = {
  <T>(work: () => Promise<T>): Promise<T>;
  /** How many calls had to be repeated. */
  repeated(): number;
};

/**
 * Repeats work that fails because the database is unavailable for a moment. Work is repeated in the order of the calls:
 * the batches of an import then keep their order.
 */
export function createRetry(options: RetryOptions): Retry {
  const { signal, onWaiting, retryForMs = RETRY_FOR_MS, pauseMs = PAUSE_MS } = options;
  let earlier: Promise<unknown> = Promise.resolve();
  let gaveUp: AppError | null = null;
  let repeated = 0;

  async function repeat<T>(work: () => Promise<T>, first: AppError, before: Promise<unknown>): Promise<T> {
    const startMs = performance.now();
    const elapsedMs = () => performance.now() - startMs;
    repeated++;
    for (let error = first; ; ) {
      if (signal?.aborted) throw error;
      if (elapsedMs() >= retryForMs) gaveUp = unavailableFor(elapsedMs(), error);
      if (gaveUp !== null) throw gaveUp;
      onWaiting?.({ reason: error.message, seconds: elapsedMs() / 1000 });
      await wait(pauseMs, undefined, { signal }).catch(() => {});
      await before;
      if (signal?.aborted || gaveUp !== null) throw gaveUp ?? error;
      try {
        const result = await (signal === undefined ? work() : orAborted(work(), signal));
        if (result !== ABORTED) return result;
      } catch (thrown) {
        error = requireTransient(thrown);
      }
    }
  }

  const retry = <T>(work: () => Promise<T>): Promise<T> => {
    const before = earlier;
    const done = work().catch((error) => repeat(work, requireTransient(error), before));
    earlier = Promise.allSettled([before, done]).then(() => {}); // without the results, which it would keep in memory
    return done;
  };
  return Object.assign(retry, { repeated: () => repeated });
}

function requireTransient(error: unknown): AppError {
  if (isTransient(error)) return error;
  throw error;
}

function unavailableFor(ms: number, cause: AppError): AppError {
  const seconds = Math.round(ms / 1000);
  const message = `The database was unavailable for ${seconds} s. ${cause.message}`;
  return new AppError('unavailable', message, { cause, isTransient: true });
}

/** The stores of an import. */
export type ImportStores = {
  store: Pick<UrlStore, 'apply' | 'importBatches' | 'applyFiles' | 'listingEffect' | 'finishListing' | 'familyNames'> &
    Pick<
      ReputationStore,
      'putSources' | 'applyListings' | 'applyDomains' | 'applyLists' | 'listEffect' | 'finishList' | 'addressLists'
    >;
  control: Pick<ImportStore, 'importStarted' | 'importRunning' | 'importFinished' | 'addRejects'> &
    Pick<FeedStore, 'feeds'>;
};

/**
 * Repeats each of the writes that change nothing when they are executed twice: the response to the first one may have been
 * lost. `importStarted` is not among them, because it would add a second import.
 */
export function withRetries({ store, control }: ImportStores, retry: Retry, recorder: ImportRecorder): ImportStores {
  /** Also repeats a write that was confirmed but not recorded: a promoted standby may lack it. */
  function write<T>(work: () => Promise<T>): Promise<T> {
    let first: { result: T } | null = null;
    return retry(async () => {
      const result = await work();
      if (first === null) recorder.addWrite();
      first ??= { result };
      await recorder.record();
      return first.result;
    });
  }

  /** Marks that a promoted standby lacks would take their URLs offline, entries that it lacks would be deleted. */
  function finish<T>(work: () => Promise<T>): Promise<T> {
    return retry(async () => {
      await recorder.record();
      return work();
    });
  }

  return {
    store: {
      apply: (batch, listing) => write(() => store.apply(batch, listing)),
      ...(store.importBatches && { importBatches: store.importBatches }),
      applyFiles: (files) => write(() => store.applyFiles(files)),
      listingEffect: (listing) => retry(() => store.listingEffect(listing)),
      finishListing: (listing) => finish(() => store.finishListing(listing)),
      familyNames: () => retry(() => store.familyNames()),
      putSources: (sources) => write(() => store.putSources(sources)),
      applyListings: (evidence) => write(() => store.applyListings(evidence)),
      applyDomains: (evidence, facts) => write(() => store.applyDomains(evidence, facts)),
      applyLists: (entries) => write(() => store.applyLists(entries)),
      listEffect: (source, ts) => retry(() => store.listEffect(source, ts)),
      finishList: (source, ts) => finish(() => store.finishList(source, ts)),
      addressLists: () => retry(() => store.addressLists()),
    },
    control: {
      ...control,
      feeds: () => retry(() => control.feeds()),
      importFinished: (id, end) => finish(() => control.importFinished(id, end)),
      addRejects: (id, from, rejects) => write(() => control.addRejects(id, from, rejects)),
    },
  };
}
