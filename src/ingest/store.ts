/** A source that is fetched again and again. */
export type Feed = {
  name: string;
  format: string;
  url: string;
  intervalSeconds: number;
  /** Sent with every request to the feed's own host; may hold a key, so they are never shown. */
  headers: Record<string, string>;
  /** Each fetch is a complete listing of what is online. */
  isComplete: boolean;
  isPaused: boolean;
  /** It may lie on loopback, private and link-local addresses. */
  allowsPrivate: boolean;

  /** What the newest answer said of itself, for the next question. */
  etag: string | null;
  lastModified: string | null;
  lastRunTs: number | null;
  lastSuccessTs: number | null;
  /** Why the newest run failed; null when it did not. */
  lastError: string | null;
  nextRunTs: number;
  /** Runs that failed since the last success. */
  failures: number;
  /** Rows in the newest run that succeeded. */
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
  rejected: number;
  wentOffline: number;
};

export const NO_COUNTS: Readonly<ImportCounts> = {
  read: 0,
  observations: 0,
  urlsAdded: 0,
  eventsChanged: 0,
  payloadsAdded: 0,
  resolutionsChanged: 0,
  filesChanged: 0,
  rejected: 0,
  wentOffline: 0,
};

/**
 * `refused`: every row was applied, but not what the complete listing leaves out. `stopped`: by a person.
 * An import without any outcome still runs, or was cut off.
 */
export type ImportOutcome = 'done' | 'refused' | 'stopped' | 'failed';

export type ImportStart = { format: string; feed: string; source: string; startedTs: number };
export type ImportEnd = { finishedTs: number; outcome: ImportOutcome; counts: ImportCounts; error: string | null };

/** What one import did. `source` is as the user named it. */
export type ImportRecord = ImportStart & {
  id: number;
  finishedTs: number | null;
  outcome: ImportOutcome | null;
  counts: ImportCounts;
  error: string | null;
};

/** A row that an import put aside. */
export type Reject = { line: number; reason: string; text: string };

export function addCounts(counts: ImportCounts, more: Partial<ImportCounts>): void {
  for (const name of Object.keys(more) as (keyof ImportCounts)[]) counts[name] += more[name] ?? 0;
}

/** Throws an AppError `unavailable` when the database does not answer. */
export type FeedStore = {
  /** In the order of their names. */
  feeds(): Promise<Feed[]>;
  feed(name: string): Promise<Feed | null>;
  /** Adds a feed, or replaces it whole; who has leased it keeps it. */
  putFeed(feed: Feed): Promise<void>;
  /** Touches what it names. False when there is no such feed. */
  changeFeed(name: string, change: FeedChange): Promise<boolean>;
  /** False when there is no such feed. */
  removeFeed(name: string): Promise<boolean>;
  /**
   * Only one of all processes and nodes has a feed at a time. True when `owner` has it until `untilTs`: nobody else
   * has it at `nowTs`. The owner makes a lease longer by asking again. False also when there is no such feed.
   */
  leaseFeed(name: string, owner: string, lease: { nowTs: number; untilTs: number }): Promise<boolean>;
  /** Nothing happens unless `owner` has it. */
  releaseFeed(name: string, owner: string): Promise<void>;
};

/** Imports and their rejected rows. Throws an AppError `unavailable` when the database does not answer. */
export type ImportStore = {
  /** Gives the id of the import. Of each feed the newest hundred imports are kept. */
  importStarted(start: ImportStart): Promise<number>;
  importFinished(id: number, end: ImportEnd): Promise<void>;
  /** All of them or nothing. */
  addRejects(importId: number, rejects: readonly Reject[]): Promise<void>;
  /** The newest first. */
  imports(filter: { feed?: string; limit: number }): Promise<ImportRecord[]>;
  import(id: number): Promise<ImportRecord | null>;
  /** In the order in which they were added, some at a time. */
  rejects(importId: number): AsyncIterable<Reject[]>;
};
