import type { AddressDataset, DomainKind } from '../core/evidence.ts';
import { laterOf } from '../core/time.ts';
import type { ImportedListKind } from './evidence.ts';

/** A source that is fetched periodically. */
export type Feed = {
  name: string;
  format: string;
  url: string;
  intervalSeconds: number;
  /** Sent only to the origin of the feed's URL. May contain an API key, so they are never shown. */
  headers: Record<string, string>;
  /** Each fetch is a complete listing of what is online. */
  isComplete: boolean;
  isPaused: boolean;
  /** May be fetched from the private networks of `--feeds-allow-private`. */
  allowsPrivate: boolean;
  /** What its evidence is trusted with: 900 is a trust of 0.9. */
  trustPermille: number;
  /** How long its listings live without new evidence; null: as long as their datasets say. */
  lifeSeconds: number | null;
  /** For formats that do not say it themselves. */
  dataset: AddressDataset | null;
  evidenceKind: DomainKind | null;
  listKind: ImportedListKind | null;

  /** Validators of the newest imported response, sent with the next request. */
  etag: string | null;
  lastModified: string | null;
  lastRunTs: number | null;
  lastSuccessTs: number | null;
  /** Why the newest run failed; null if it succeeded. */
  lastError: string | null;
  nextRunTs: number;
  /** Failed runs since the last success. */
  failures: number;
  /** Rows of the newest successful run. */
  rows: number | null;
};

export type FeedChange = Partial<Omit<Feed, 'name'>>;

export type ImportCounts = {
  read: number;
  observations: number;
  urlsAdded: number;
  eventsChanged: number;
  payloadsAdded: number;
  resolutionsChanged: number;
  filesChanged: number;
  /** Listings, evidence and facts about domains, and entries of lists. */
  evidence: number;
  listingsChanged: number;
  domainsChanged: number;
  listsChanged: number;
  rejected: number;
  wentOffline: number;
  /** The newest event that the import added or changed. */
  newestEventTs: number | null;
  /** The newest sighting of a URL that it applied: the start of an event, or its confirmation. */
  confirmedTs: number | null;
};

export const NO_COUNTS: Readonly<ImportCounts> = {
  read: 0,
  observations: 0,
  urlsAdded: 0,
  eventsChanged: 0,
  payloadsAdded: 0,
  resolutionsChanged: 0,
  filesChanged: 0,
  evidence: 0,
  listingsChanged: 0,
  domainsChanged: 0,
  listsChanged: 0,
  rejected: 0,
  wentOffline: 0,
  newestEventTs: null,
  confirmedTs: null,
};

/**
 * `refused`: the rows were applied, but the complete listing took no URL offline. `stopped`: by the user. `failed`: an
 * error, or no row could be used.
 * An import without an outcome is still running, or its process is gone (`import-state.ts`).
 */
export type ImportOutcome = 'done' | 'refused' | 'stopped' | 'failed';

export type ImportStart = { format: string; feed: string; source: string; startedTs: number };
/** `writes`: how many writes of the import were confirmed. `recordedWrites`: how many of them an earlier call has recorded. */
export type ImportHeartbeat = { heartbeatTs: number; counts: ImportCounts; writes: number; recordedWrites: number };
export type ImportEnd = { finishedTs: number; outcome: ImportOutcome; counts: ImportCounts; error: string | null };

/** A stored import. `source` is the file or URL that the user gave. */
export type ImportRecord = ImportStart & {
  id: number;
  finishedTs: number | null;
  outcome: ImportOutcome | null;
  counts: ImportCounts;
  error: string | null;
  /** When the running import last recorded its counts. */
  heartbeatTs: number | null;
};

/** How fresh the data of URLs is, by the stored imports; null if none of them had any. */
export type Freshness = Pick<ImportCounts, 'newestEventTs' | 'confirmedTs'>;

/** A row that an import could not use. */
export type Reject = { line: number; reason: string; text: string };

/** Adds numbers, and keeps the newest of the times. */
export function addCounts(counts: ImportCounts, more: Partial<ImportCounts>): void {
  const { newestEventTs = null, confirmedTs = null, ...numbers } = more;
  for (const name of Object.keys(numbers) as (keyof typeof numbers)[]) counts[name] += numbers[name] ?? 0;
  counts.newestEventTs = laterOf(counts.newestEventTs, newestEventTs);
  counts.confirmedTs = laterOf(counts.confirmedTs, confirmedTs);
}

/** Throws an AppError `unavailable` if the database is unavailable. */
export type FeedStore = {
  /** Sorted by name. */
  feeds(): Promise<Feed[]>;
  feed(name: string): Promise<Feed | null>;
  /** False if there is a feed of this name; it stays as it is. */
  addFeed(feed: Feed): Promise<boolean>;
  /** Changes only the given values. False if the feed does not exist. */
  changeFeed(name: string, change: FeedChange): Promise<boolean>;
  /** False if the feed does not exist. */
  removeFeed(name: string): Promise<boolean>;
  /**
   * Grants one process the exclusive right to run a feed until `untilTs`. False if another owner has a lease at `nowTs`
   * that ends within two hours, or if the feed does not exist. The owner renews its lease by calling this again.
   */
  leaseFeed(name: string, owner: string, lease: { nowTs: number; untilTs: number }): Promise<boolean>;
  /** Names of the feeds that a process runs, or changes, at this time. */
  leasedFeeds(nowTs: number): Promise<string[]>;
  /** Does nothing unless `owner` has the lease. */
  releaseFeed(name: string, owner: string): Promise<void>;
};

/** Imports and their rejected rows. Throws an AppError `unavailable` if the database is unavailable. */
export type ImportStore = {
  /** Returns the id of the import. Deletes all but the newest hundred imports of the feed, and none that is running. */
  importStarted(start: ImportStart): Promise<number>;
  /**
   * Records that the import is running. False if the database lacks `recordedWrites`: it is not the one that recorded
   * them, but a standby that lagged when it was promoted.
   */
  importRunning(id: number, heartbeat: ImportHeartbeat): Promise<boolean>;
  importFinished(id: number, end: ImportEnd): Promise<void>;
  /**
   * In one transaction. `earlier` is the number of rejects in earlier calls, which may still be running. A call that is
   * repeated changes nothing.
   */
  addRejects(importId: number, earlier: number, rejects: readonly Reject[]): Promise<void>;
  /** Newest first. */
  imports(filter: { feed?: string; limit: number }): Promise<ImportRecord[]>;
  import(id: number): Promise<ImportRecord | null>;
  /** Reads the stored imports, not the URLs: at most a hundred rows of each feed. */
  freshness(): Promise<Freshness>;
  /** Pages in the order of the import. */
  rejects(importId: number): AsyncIterable<Reject[]>;
};
