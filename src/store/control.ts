import type { Tier } from '../core/tier.ts';

/** Who may ask. `usernameKey` is what usernames are compared by (`core/username.ts`). */
export type Account = {
  /** Eight digits; the subscription identifier that the account sees. */
  sub: string;
  username: string;
  usernameKey: string;
  /** As `accounts/passwords.ts` writes it. */
  passwordHash: string;
  tier: string;
  isEnabled: boolean;
  /** Raised by a new password and by revocation; tokens of an older generation are void. */
  generation: number;
  createdTs: number;
};

/** The generation is raised inside the store: two who read it first would raise it once. */
export type AccountChange = Partial<Pick<Account, 'tier' | 'isEnabled' | 'passwordHash'>> & { raisesGeneration?: true };

/** A key that signs tokens. The newest one signs; the others verify what they signed before. */
export type SigningKey = { kid: string; secret: Uint8Array; createdTs: number };

/** Queries counted for an account in a UTC day (days since 1970) and in its month (months since 1970). */
export type Usage = { sub: string; day: number; month: number; count: number };

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

/**
 * Accounts, tiers, signing keys, usage, feeds and imports. Every change of accounts, tiers or keys raises `version`, so that others who
 * keep a copy know when to look again. An engine that cannot answer throws an AppError `unavailable`.
 */
export type Control = {
  /** Grows with every change of accounts, tiers and keys, by whatever process. Throws when the data was replaced. */
  version(): Promise<number>;

  /** In the order of their usernames. */
  accounts(): Promise<Account[]>;
  accountBySub(sub: string): Promise<Account | null>;
  accountByUsername(usernameKey: string): Promise<Account | null>;
  /** False when the username or the sub is taken. Throws an AppError `not_found` when there is no such tier. */
  addAccount(account: Account): Promise<boolean>;
  /** False when there is no such account. Throws an AppError `not_found` when there is no such tier. */
  changeAccount(sub: string, change: AccountChange): Promise<boolean>;
  /** With its usage. False when there is no such account. */
  removeAccount(sub: string): Promise<boolean>;

  /** Tiers that an operator has set, by name; the built-in ones are in `core/tier.ts`. */
  tiers(): Promise<Tier[]>;
  putTier(tier: Tier): Promise<void>;
  /** A tier that an account has stays. */
  removeTier(name: string): Promise<'removed' | 'unknown' | 'in_use'>;

  /** The one that was added last comes first, whatever the clocks said. */
  keys(): Promise<SigningKey[]>;
  /**
   * Adds a key, which signs from now on, and drops those superseded before `keepSince`: a key is superseded when the
   * one after it was created.
   */
  addKey(key: SigningKey, keepSince: number): Promise<void>;
  /** Adds the key when there is none, and gives the one that signs: nodes that start together end with the same. */
  ensureKey(key: SigningKey): Promise<SigningKey>;

  /** The counts of the given day and of the given month. */
  usage(sub: string, day: number, month: number): Promise<{ day: number; month: number }>;
  /** Adds to what is there, all of it or nothing; counts may be negative (given back), a sum never is. */
  addUsage(usage: readonly Usage[]): Promise<void>;

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

  close(): Promise<void>;
};
