import { type AppError, badRequest, isTransient } from '../core/errors.ts';
import { createFamilySets } from '../core/ip/network-set.ts';
import { type Batch, createBatcher, evidenceOf, isOnlyUrls, type LookupAsn, sourcesOf } from './batch.ts';
import { type CompleteListing, type ImportEndState, openCompleteListing } from './complete-listing.ts';
import type { EvidenceRules } from './evidence.ts';
import { finishList } from './finish-list.ts';
import { startRecorder } from './import-record.ts';
import { createImportSources, type SourceChoices } from './import-sources.ts';
import { createRetry, type ImportStores, type RetryOptions, withRetries } from './retry.ts';
import type { EvidenceChoices, Format, InputLimits, Source } from './sources/format.ts';
import { keepStart, type SourceStart } from './sources/source-start.ts';
import { addCounts, type ImportCounts, type ImportOutcome, NO_COUNTS, type Reject } from './store.ts';
import { createFamiliesOfTags } from './tag-families.ts';
import { untilAborted } from './until-aborted.ts';
import { type AdviseFormat, isEmptyList, unusableReason, withGuess } from './unusable.ts';

/** What an import did. */
export type ImportReport = ImportCounts &
  ImportEndState & {
    /** The key of its rejects; null for a dry run, which stores nothing. */
    id: number | null;
    /** The first few, shown in the report. */
    firstRejects: Reject[];
    /**
     * Writes that failed because the database was unavailable, and were repeated. If such a write had been stored and only its
     * answer was lost, its changes are missing from the counts.
     */
    repeatedWrites: number;
    seconds: number;
    /**
     * Every status in it was online, and it was not a complete listing: its URLs stay online until another source says
     * otherwise. False if there was no status, as in a list of addresses.
     */
    isOnlineOnly: boolean;
  };

export type ImportProgress = {
  rows: number;
  rejected: number;
  readBytes: number;
  totalBytes: number | null;
  seconds: number;
};

export type ImportOptions = Pick<RetryOptions, 'onWaiting' | 'retryForMs' | 'pauseMs'> &
  EvidenceChoices &
  SourceChoices & {
    format: Format;
    source: Source;
    /** null for a dry run, which reads and checks everything except allow lists, and writes nothing. */
    into: ImportStores | null;
    /**
     * The feed that the data belongs to, and the source of its evidence. A complete listing is compared with earlier
     * listings of the same feed.
     */
    feed: string;
    /** `feed` is a default: a list that has a name is stored under its own name. */
    isUnnamed?: boolean;
    /** Accept evidence on private, documentation and other reserved networks. */
    allowReserved?: boolean;
    limits: InputLimits;
    nowTs: () => number;
    /** The source lists every URL that is online; URLs that it does not list are offline. */
    isComplete?: boolean;
    /** The time of rows that have none (default: now), and of a complete listing (default: the newest time in it). */
    asOfTs?: number | null;
    /** Apply a complete listing, or the new version of a list, even if it looks truncated. */
    isForced?: boolean;
    /** Stop at the first rejected row. */
    isStrict?: boolean;
    /** Looks up the AS number of an address that has none in the source. */
    lookupAsn?: LookupAsn;
    /** Names of malware families in addition to the built-in and the stored ones. */
    families?: readonly string[];
    onProgress?: (progress: ImportProgress) => void;
    /** Called with the id of the import when it is recorded; not for a dry run. */
    onStarted?: (id: number) => void;
    /** Stops the import after the current batch, and ends a wait for the database at once. */
    signal?: AbortSignal;
    heartbeatMs?: number;
    /** A list that says itself that it is empty is no failure. */
    allowsEmptyList?: boolean;
    /** For the message about a source that has another format. */
    adviseFormat?: AdviseFormat;
  };

/** Measured with URLhaus rows: docs/ARCHITECTURE.md, "An import". */
export const BATCH_SIZE = 2_000;

/** One batch is written, the next one is queued, a third one is read. A store may apply more URLs together. */
const BATCHES_IN_FLIGHT = 2;

/** Rejects stored per import; all are counted. More rejects than this mean the wrong format. */
const REJECTS_KEPT = 10_000;
const FIRST_REJECTS = 5;

/** An import in progress. */
type ImportRun = {
  id: number | null;
  startedMs: number;
  counts: ImportCounts;
  firstRejects: Reject[];
  lastBatch: Pick<Batch, 'listEnd' | 'endsInReject'>;
  statuses: { online: number; other: number };
  /** The first bytes of the source, as far as they were read. */
  start(): SourceStart;
};

/**
 * Reads a source to its end and applies it batch by batch, so that memory does not grow with its size. An interrupted
 * import can be repeated: applying the same rows twice changes nothing, and a listing takes effect at the very end.
 * Throws an AppError if the source cannot be read, or if the store is unavailable for longer than a failover takes;
 * batches already applied stay applied.
 */
export async function runImport(options: ImportOptions): Promise<ImportReport> {
  const { source, start } = keepStart(options.source);
  const given = { ...options, source };
  const run = { ...(await startRun(given)), start };
  if (run.id !== null) given.onStarted?.(run.id);
  const { into, nowTs, heartbeatMs } = given;
  const { id, counts } = run;
  const recorder =
    into && id !== null ? startRecorder({ control: into.control, id, counts, nowTs, heartbeatMs }) : null;
  const retry = createRetry(given);
  const retried = { ...given, into: recorder && into && withRetries(into, retry, recorder) };
  try {
    const end = await importAll(retried, run);
    await recorder?.close();
    await finishRun(retried, run, end.outcome, end.error);
    const { firstRejects, startedMs, statuses } = run;
    const repeatedWrites = retry.repeated();
    const isOnlineOnly = given.isComplete !== true && statuses.online > 0 && statuses.other === 0;
    return { ...counts, id, ...end, isOnlineOnly, firstRejects, repeatedWrites, seconds: secondsSince(startedMs) };
  } catch (thrown) {
    await recorder?.close();
    const isUsed = run.counts.rejected < run.counts.read;
    const error = isUsed ? thrown : withGuess(thrown, source.name, attemptOf(given, run));
    if (!isGivenUp(given, error)) {
      // Without retries: if the store is down, this write fails too. The caller gets the first error.
      await finishRun(given, run, 'failed', (error as Error).message).catch(() => {});
    }
    throw error;
  }
}

/** Whoever stops an import while its store is down does not wait for one more write. Without heartbeats it is shown as interrupted. */
const isGivenUp = ({ signal }: ImportOptions, error: unknown): boolean =>
  signal?.aborted === true && isTransient(error);

function attemptOf({ format, adviseFormat = () => '' }: ImportOptions, run: ImportRun) {
  return { format: format.name, start: run.start(), adviseFormat };
}

async function startRun({ into, format, feed, source, nowTs }: ImportOptions): Promise<Omit<ImportRun, 'start'>> {
  const start = { format: format.name, feed, source: source.name, startedTs: nowTs() };
  const id = into === null ? null : await into.control.importStarted(start);
  const lastBatch = { listEnd: null, endsInReject: false };
  const statuses = { online: 0, other: 0 };
  return { id, startedMs: performance.now(), counts: { ...NO_COUNTS }, firstRejects: [], lastBatch, statuses };
}

async function finishRun({ into, nowTs }: ImportOptions, run: ImportRun, outcome: ImportOutcome, error: string | null) {
  if (into === null || run.id === null) return;
  await into.control.importFinished(run.id, { finishedTs: nowTs(), outcome, counts: run.counts, error });
}

async function importAll(options: ImportOptions, run: ImportRun): Promise<ImportEndState> {
  const listing = options.isComplete === true ? await openCompleteListing(options) : null;
  try {
    await importRows(options, run, listing);
    if (options.signal?.aborted) return { outcome: 'stopped', error: null, listingTs: null };
    const error = failureOf(options, run);
    if (error !== null) return { outcome: 'failed', error, listingTs: null };
    return (await finishList(options, run.lastBatch, run.counts)) ?? (await listing?.finish(run.counts)) ?? DONE;
  } finally {
    await listing?.close();
  }
}

const DONE: ImportEndState = { outcome: 'done', error: null, listingTs: null };

/** Before a complete listing takes effect: rows that are all unusable must not take every URL offline, not even by force. */
function failureOf(options: ImportOptions, run: ImportRun): string | null {
  const { format, isComplete, isForced, allowsEmptyList } = options;
  const isNone = run.counts.read === 0;
  if (isNone && isComplete && isForced) return null;
  if (isNone && allowsEmptyList && isEmptyList(format.name, run.start())) return null;
  const reason = unusableReason(run.counts, attemptOf(options, run));
  return reason !== null && isNone && isComplete ? `${reason} ${FORCE_EMPTY}` : reason;
}

const FORCE_EMPTY = 'No URL was taken offline. If it is right that nothing is online, run it again with --force.';

async function importRows(options: ImportOptions, run: ImportRun, listing: CompleteListing | null): Promise<void> {
  const writes = createConcurrencyLimit();
  const sources = options.into && createImportSources(options.into, options.feed, options);
  try {
    for await (const batch of readBatches(options, run)) {
      count(run, batch);
      const [first] = batch.rejects;
      if (options.isStrict && first !== undefined) throw strictRefusal(first);
      await listing?.add(batch);
      // Before the evidence: the life of a source decides which sightings make one episode.
      await sources?.put(sourcesOf(batch));
      await writes.start(inFlight(options, batch), () => write(options, run, batch));
    }
  } finally {
    // Wait for the batches in flight, so that the counts are final.
    await writes.end();
  }
}

/** Other records are not to be written long after URLs of later batches: of two details of a file the first one stays. */
function inFlight({ into }: ImportOptions, batch: Batch): number {
  return (isOnlyUrls(batch) ? into?.store.importBatches?.inFlight : undefined) ?? BATCHES_IN_FLIGHT;
}

/** Batch boundaries depend only on the rows, their order and the store, so a second import creates the same batches. */
async function* readBatches(options: ImportOptions, run: ImportRun): AsyncGenerator<Batch> {
  const { format, source, limits, lookupAsn, signal, onProgress, into, asOfTs = null } = options;
  const nowTs = options.nowTs();
  const rules: EvidenceRules = {
    source: options.feed,
    nowTs,
    allowReserved: options.allowReserved === true,
    isAllowed: () => false,
  };
  // Before the first batch is written: the families that this import stores must not depend on how far it has got.
  const stored = format.statesFamilies ? [] : ((await into?.store.familyNames()) ?? []);
  const familiesOf = format.statesFamilies
    ? undefined
    : createFamiliesOfTags({ stored, given: options.families ?? [] });
  const isListing = options.isComplete === true;
  const batcher = createBatcher({ rules, lookupAsn, isListing, isDryRun: into === null, familiesOf });
  const { dataset, evidenceKind, listKind, isUnnamed = false } = options;
  const choices = { dataset, evidenceKind, listKind, isUnnamed };
  const pages = format.read(source, limits, { ...choices, nowTs, asOfTs: asOfTs ?? nowTs, hasAsOf: asOfTs !== null });
  const urlsSize = into?.store.importBatches?.size ?? BATCH_SIZE;
  let hasAllowLists = into === null;
  for await (const items of untilAborted(pages, signal)) {
    for (const item of items) {
      if (!hasAllowLists && into !== null && item.kind === 'evidence') {
        rules.isAllowed = await readAllowLists(into.store);
        hasAllowLists = true;
      }
      batcher.add(item);
      if (batcher.size() < (batcher.isOnlyUrls() ? urlsSize : BATCH_SIZE)) continue;
      yield batcher.take();
      if (signal?.aborted) return;
    }
    onProgress?.({ ...batcher.totals(), ...source.progress(), seconds: secondsSince(run.startedMs) });
  }
  if (!signal?.aborted) yield batcher.take();
}

async function readAllowLists(store: ImportStores['store']): Promise<EvidenceRules['isAllowed']> {
  const { entries } = await store.addressLists();
  return createFamilySets(entries.filter(({ as }) => as === 'allow').map(({ network }) => network)).covers;
}

async function write({ into }: ImportOptions, run: ImportRun, batch: Batch): Promise<void> {
  if (into === null || run.id === null) return;
  const { urls, observations, files, listings, domains, facts, entries, rejects } = batch;
  const earlier = run.counts.rejected - rejects.length;
  const kept = rejects.slice(0, Math.max(0, REJECTS_KEPT - earlier));
  if (kept.length > 0) await into.control.addRejects(run.id, earlier, kept);
  if (observations.all > 0) {
    addCounts(run.counts, await into.store.apply(urls));
    addCounts(run.counts, { confirmedTs: observations.newestTs });
  }
  if (files.length > 0) addCounts(run.counts, { filesChanged: await into.store.applyFiles(files) });
  if (listings.length > 0) addCounts(run.counts, { listingsChanged: await into.store.applyListings(listings) });
  if (domains.length + facts.length > 0)
    addCounts(run.counts, { domainsChanged: await into.store.applyDomains(domains, facts) });
  if (entries.length > 0) addCounts(run.counts, { listsChanged: await into.store.applyLists(entries) });
}

function count(run: ImportRun, batch: Batch): void {
  const { rows, observations, rejects, listEnd, endsInReject } = batch;
  const evidence = evidenceOf(batch);
  addCounts(run.counts, { read: rows, observations: observations.all, evidence, rejected: rejects.length });
  run.statuses.online += observations.online;
  run.statuses.other += observations.other;
  run.lastBatch = { listEnd, endsInReject };
  run.firstRejects.push(...rejects.slice(0, FIRST_REJECTS - run.firstRejects.length));
}

function strictRefusal({ line, reason }: Reject): AppError {
  return badRequest(
    `Stopped at line ${line}: ${reason.replace(/\.$/, '')}. Its batch and the rows after it were not applied. Correct the row, or import without --strict.`,
  );
}

function secondsSince(startedMs: number): number {
  return (performance.now() - startedMs) / 1000;
}

/** Runs tasks concurrently. A failure is thrown by a later call of `start` or `end`. */
function createConcurrencyLimit() {
  const running: Promise<void>[] = [];

  return {
    /** Waits until fewer than `limit` tasks run, not until this one ends. */
    async start(limit: number, work: () => Promise<void>): Promise<void> {
      while (running.length >= limit) await running.shift();
      const started = work();
      started.catch(() => {}); // thrown where it is awaited
      running.push(started);
    },

    /** Waits for all tasks. */
    async end(): Promise<void> {
      const settled = await Promise.allSettled(running.splice(0));
      for (const result of settled) if (result.status === 'rejected') throw result.reason;
    },
  };
}
