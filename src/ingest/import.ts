import { AppError } from '../core/errors.ts';
import type { UrlStore } from '../urls/store.ts';
import { type Batch, createBatcher, type LookupAsn } from './batch.ts';
import { type CompleteListing, type ImportEndState, openCompleteListing } from './complete-listing.ts';
import type { ImportProgress, ImportReport } from './report.ts';
import type { Format, InputLimits, Source } from './sources/format.ts';
import { addCounts, type ImportCounts, type ImportOutcome, type ImportStore, NO_COUNTS, type Reject } from './store.ts';

export type ImportOptions = {
  format: Format;
  source: Source;
  /** null: a dry run, which reads and checks everything and writes nothing. */
  into: { store: UrlStore; control: ImportStore } | null;
  /** Whose data it is; complete listings are compared within a feed. */
  feed: string;
  limits: InputLimits;
  nowTs: () => number;
  /** The source names everything that is online, and so tells what is not. */
  isComplete?: boolean;
  /** The time of rows that have none (default: now), and of a complete listing (default: the newest time in it). */
  asOfTs?: number | null;
  /** Apply a complete listing even when it looks wrong. */
  isForced?: boolean;
  /** Stop at the first row that cannot be used. */
  isStrict?: boolean;
  /** The network of an address that came without one. */
  lookupAsn?: LookupAsn;
  onProgress?: (progress: ImportProgress) => void;
  /** Stops after the batch that is being written. */
  signal?: AbortSignal;
};

/** As measured with URLhaus rows: see docs/ARCHITECTURE.md, "The way of an import". */
export const BATCH_SIZE = 2_000;

/** One batch is written while the next one waits and a third is being read. */
const BATCHES_IN_FLIGHT = 2;

/** Kept to be looked at; all are counted. Whoever has more has the wrong format. */
const REJECTS_KEPT = 10_000;
const FIRST_REJECTS = 5;

type Run = { id: number | null; startedMs: number; counts: ImportCounts; firstRejects: Reject[] };

/**
 * Reads a source to its end and applies it batch by batch, so that memory does not grow with its size. What was cut off
 * can be started again: applying the same rows twice changes nothing, and a listing takes effect at the very end.
 * Throws an AppError when the source cannot be read or the store does not answer; what was applied before stays.
 */
export async function runImport(options: ImportOptions): Promise<ImportReport> {
  const run = await startRun(options);
  try {
    const end = await importAll(options, run);
    await finishRun(options, run, end.outcome, end.error);
    const { id, counts, firstRejects, startedMs } = run;
    return { ...counts, id, ...end, firstRejects, seconds: secondsSince(startedMs) };
  } catch (error) {
    // The error that ended the import is the one to tell, also where the store answers no more.
    await finishRun(options, run, 'failed', (error as Error).message).catch(() => {});
    throw error;
  }
}

async function startRun({ into, format, feed, source, nowTs }: ImportOptions): Promise<Run> {
  const start = { format: format.name, feed, source: source.name, startedTs: nowTs() };
  const id = into === null ? null : await into.control.importStarted(start);
  return { id, startedMs: performance.now(), counts: { ...NO_COUNTS }, firstRejects: [] };
}

async function finishRun({ into, nowTs }: ImportOptions, run: Run, outcome: ImportOutcome, error: string | null) {
  if (into === null || run.id === null) return;
  await into.control.importFinished(run.id, { finishedTs: nowTs(), outcome, counts: run.counts, error });
}

async function importAll(options: ImportOptions, run: Run): Promise<ImportEndState> {
  const listing = options.isComplete === true ? await openCompleteListing(options) : null;
  try {
    await importRows(options, run, listing);
    if (options.signal?.aborted) return { outcome: 'stopped', error: null, listingTs: null };
    if (listing === null) return { outcome: 'done', error: null, listingTs: null };
    return await listing.finish(run.counts);
  } finally {
    await listing?.close();
  }
}

async function importRows(options: ImportOptions, run: Run, listing: CompleteListing | null): Promise<void> {
  const turns = createConcurrencyLimit(BATCHES_IN_FLIGHT);
  try {
    for await (const batch of readBatches(options, run)) {
      count(run, batch);
      const [first] = batch.rejects;
      if (options.isStrict && first !== undefined) throw strictRefusal(first);
      await listing?.add(batch);
      await turns.start(() => write(options, run, batch));
    }
  } finally {
    // What was begun is finished before anything is said about it.
    await turns.end();
  }
}

/** The rows of the source in batches that depend on nothing but their order: a second run makes the same ones. */
async function* readBatches(options: ImportOptions, run: Run): AsyncGenerator<Batch> {
  const { format, source, limits, lookupAsn, signal, onProgress } = options;
  const nowTs = options.nowTs();
  const batcher = createBatcher({ nowTs, lookupAsn, isListing: options.isComplete === true });
  const items = format.read(source, limits, { nowTs, asOfTs: options.asOfTs ?? nowTs });
  for await (const some of untilAborted(items, signal)) {
    for (const item of some) {
      batcher.add(item);
      if (batcher.size() < BATCH_SIZE) continue;
      yield batcher.take();
      if (signal?.aborted) return;
    }
    onProgress?.({ ...batcher.totals(), ...source.progress(), seconds: secondsSince(run.startedMs) });
  }
  if (!signal?.aborted) yield batcher.take();
}

async function write({ into }: ImportOptions, run: Run, { observations, files, rejects }: Batch): Promise<void> {
  if (into === null || run.id === null) return;
  const room = Math.max(0, REJECTS_KEPT - (run.counts.rejected - rejects.length));
  if (rejects.length > 0 && room > 0) await into.control.addRejects(run.id, rejects.slice(0, room));
  if (observations.length > 0) addCounts(run.counts, await into.store.apply(observations));
  if (files.length > 0) addCounts(run.counts, { filesChanged: await into.store.applyFiles(files) });
}

function count(run: Run, { rows, observations, rejects }: Batch): void {
  addCounts(run.counts, { read: rows, observations: observations.length, rejected: rejects.length });
  run.firstRejects.push(...rejects.slice(0, FIRST_REJECTS - run.firstRejects.length));
}

function strictRefusal({ line, reason }: Reject): AppError {
  return new AppError('bad_request', `Stopped at line ${line}: ${reason}. It and what follows was not applied.`);
}

function secondsSince(startedMs: number): number {
  return (performance.now() - startedMs) / 1000;
}

/** Lets `limit` pieces of work be under way at once. A failure is thrown by whichever call comes next. */
export function createConcurrencyLimit(limit: number) {
  const underWay: Promise<void>[] = [];

  return {
    /** Waits until there is room, and no longer. */
    async start(work: () => Promise<void>): Promise<void> {
      while (underWay.length >= limit) await underWay.shift();
      const started = work();
      started.catch(() => {}); // thrown where it is waited for
      underWay.push(started);
    },

    /** Waits for all of it. */
    async end(): Promise<void> {
      const settled = await Promise.allSettled(underWay.splice(0));
      for (const one of settled) if (one.status === 'rejected') throw one.reason;
    },
  };
}

const ABORTED = Symbol('aborted');

/** What `source` gives, until the signal stops it, also in the middle of waiting for a source that is silent. */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal | undefined): AsyncGenerator<T> {
  if (signal === undefined) return yield* source;
  const iterator = source[Symbol.asyncIterator]();
  let isWaiting = false;
  try {
    while (!signal.aborted) {
      isWaiting = true;
      const next = await orAborted(iterator.next(), signal);
      if (next === ABORTED) return;
      isWaiting = false;
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // A generator that waits for its source takes no orders before that answers.
    if (!isWaiting) await iterator.return?.();
  }
}

/** Not Promise.race: with a signal that outlives it, each race would keep its result for as long. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | typeof ABORTED> {
  const { promise, resolve, reject } = Promise.withResolvers<T | typeof ABORTED>();
  const onAbort = () => resolve(ABORTED);
  signal.addEventListener('abort', onAbort, { once: true });
  work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  return promise;
}
