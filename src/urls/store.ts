import type { FileDetails, FileReport, ObservationInput } from '../core/observation.ts';
import { dayOf, type TimeWindow } from '../core/time.ts';
import type { Bounds } from '../database/pages.ts';
import type { UrlBatch } from './packed-groups.ts';
import type { SearchKey } from './search-key.ts';
import type { EventKind } from './timeline.ts';

export { createUrlBatcher } from './packed-groups.ts';
export type { SearchKey, UrlBatch };

// What other features need to read the tables of URLs. Kinds of events are indexes in `ENTRY_KINDS` (stored-timeline.ts).

/** The kinds before it are online. */
export const FIRST_OFFLINE_KIND = 2;
/** The kinds from this one on are confirmations, which callers do not see. The index of events by host has those before it. */
export const FIRST_HIDDEN_KIND = 4;

/** Days in a bucket of resolutions; see the comment in the migration. Measured: 29 ms without buckets, 2.5 ms with. */
const BUCKET_DAYS = 30;

export function bucketOf(ts: number): number {
  return Math.floor(dayOf(ts) / BUCKET_DAYS);
}

/** The number of changes by a batch; all zero or null when the batch was applied before. */
export type ApplyReport = {
  urlsAdded: number;
  eventsChanged: number;
  payloadsAdded: number;
  resolutionsChanged: number;
  /** The newest event of the URLs whose events changed. */
  newestEventTs: number | null;
};

export const NOTHING_APPLIED: Readonly<ApplyReport> = {
  urlsAdded: 0,
  eventsChanged: 0,
  payloadsAdded: 0,
  resolutionsChanged: 0,
  newestEventTs: null,
};

/** A complete listing of a feed: all URLs that the feed has as online at `ts`. */
export type Listing = { feed: string; ts: number };

/** The effect that finishing a listing would have. */
type ListingEffect = {
  /** URLs that the feed lists and that are online now, including those of this listing. */
  online: number;
  /** How many of them the listing takes offline. */
  goingOffline: number;
};

/** The URLs to export, each with all of its data; an empty filter selects all URLs. */
export type ExportFilter = {
  /** URLs whose newest event or payload is not older than this. */
  since?: number | undefined;
  /** URLs with this last status; a removed URL counts as offline. */
  status?: 'online' | 'offline' | undefined;
  /** URLs with this tag, in any spelling. */
  tag?: string | undefined;
};

export type ExportedUrl = UrlLast & {
  host: string;
  /** Sorted. */
  tags: readonly string[];
  /** Null unless `isDetailed`. */
  details: ExportDetails | null;
};

type ExportDetails = {
  /** The newest sighting in the status of `event`; null if nobody saw it: a URL without status, an implied offline. */
  confirmedTs: number | null;
  /** Of the newest resolution; of several at that time the smallest address. */
  address: { ip: string; asn: number | null } | null;
};

/** Which URLs a list for devices has. URLs without a status are on none. */
export type ListedUrlFilter = {
  /** A removed URL counts as offline. */
  status: 'online' | 'offline' | 'any';
  /** URLs whose `seenTs` is not older than this. */
  seenSinceTs: number;
  /** Only the URLs of this host, of very many not all. */
  host?: string;
  /** Without tags and hashes: with three tags each, they take a third of the time. Has no effect together with `host`. */
  isBrief?: boolean;
};

/** A URL with its last status and payload. */
export type ListedUrl = {
  id: number;
  url: string;
  host: string;
  status: 'online' | 'offline';
  /** When the present status began. */
  sinceTs: number;
  /** Newest sighting in that status; without one, `sinceTs`. */
  seenTs: number;
  /** Of the newest event. */
  reporter: string;
  /** Of the last payload. */
  family: string | null;
  /** Of other payloads of the same time, if there are any: the tags of one row may name several families. */
  otherFamilies?: readonly string[];
  sha256: string | null;
  /** In alphabetical order. */
  tags: readonly string[];
};

/** The network of an address; `ip`: sixteen sortable bytes (`core/ip/address.ts`). */
export type AddressNetwork = { ip: Uint8Array; asn: number };

/** The tables of which `checkRows` compares the rows with each other. */
export type CheckedTable =
  | 'families'
  | 'files'
  | 'urls'
  | 'events'
  | 'payloads'
  | 'resolutions'
  | 'listed'
  | 'tags'
  | 'url_tags';

/** The primary key of a row; the first part is an id. `afterId` in integrity-rows.ts begins anywhere. */
export type RowKey = readonly (number | Uint8Array)[];

/** A row that contradicts other rows, or its own columns. */
export type Fault = {
  table: CheckedTable;
  /** The primary key of the row, its parts separated by spaces; bytes are hexadecimal. */
  key: string;
  problem: string;
  /** Whether the right value follows from other rows, so that `repairRows` can set it. */
  isRepairable: boolean;
};

/** `next` is null after the last page of the table. */
export type CheckedPage = { rows: number; faults: Fault[]; next: RowKey | null };

/** `faults` are those that remain. */
export type RepairedPage = CheckedPage & { repaired: Fault[] };

/**
 * The port of the URL store. URLs must be normalized (`core/url/normalize.ts`). A stream yields pages of records, never an
 * empty page. Each page is read by key in a transaction of its own, so a stream is no snapshot.
 * An engine that is unavailable throws an AppError `unavailable`.
 */
export type UrlStore = {
  /**
   * Applies observations in one transaction. Applying the same ones again changes nothing. With a listing, the URLs are
   * marked as listed by it.
   */
  apply(batch: UrlBatch, listing?: Listing): Promise<ApplyReport>;
  /** What is fastest for an import that writes nothing but URLs: observations in a batch, and batches at the same time. */
  importBatches?: { size?: number; inFlight: number };
  /** Fills in unknown details of files, also of files that no URL served yet; returns how many reports changed a file. */
  applyFiles(files: readonly FileReport[]): Promise<number>;

  /** To be called after the whole listing was applied and before it is finished. */
  listingEffect(listing: Listing): Promise<ListingEffect>;
  /**
   * Takes URLs offline that the feed listed before and that are not in this listing, which was read completely
   * (docs/timeline.md). Uses several transactions; after an interruption, the next call for the feed continues.
   */
  finishListing(listing: Listing): Promise<{ wentOffline: number }>;

  /**
   * The stored data as observations: an empty store has the same data after applying them. Their order depends on the
   * data alone, not on ids or on the order of arrival.
   */
  exportObservations(filter: ExportFilter): AsyncIterable<ObservationInput[]>;
  /** URLs with their last status and payload, in the order of `exportObservations`. Details take more time. */
  exportUrls(filter: ExportFilter, isDetailed?: boolean): AsyncIterable<ExportedUrl[]>;

  /**
   * The URLs of a list for devices, in any order. A statement reads more than the answering thread may: this is for a
   * thread of its own, or a command.
   */
  urlsForList(filter: ListedUrlFilter): AsyncIterable<ListedUrl[]>;

  /** The names of malware families, in the order in which they were stored; of very many, the first. */
  familyNames(): Promise<string[]>;

  /** Addresses that have a resolution without a network. An address may occur more than once. */
  networklessAddresses(signal: AbortSignal): AsyncIterable<Uint8Array[]>;
  /** Sets the network of resolutions that have none; returns how many changed. */
  setNetworks(networks: readonly AddressNetwork[]): Promise<number>;

  /** By table the greatest id with which a key begins; 0 for an empty table. */
  lastIds(): Promise<Record<CheckedTable, number>>;
  /**
   * Checks the next rows after the key, all in one state of the database (docs/operating.md lists what is checked). A
   * page is small enough to be checked between requests. Throws an AppError `damaged` if a page of the file is unreadable.
   */
  checkRows(table: CheckedTable, after: RowKey): Promise<CheckedPage>;
  /** Checks the next rows again in a transaction that writes, and sets what follows from other rows. */
  repairRows(table: CheckedTable, after: RowKey): Promise<RepairedPage>;

  // SQLite returns the result itself: a promise and its timer would cost as much as half the lookup.
  urlId(url: string): number | null | Promise<number | null>;
  /**
   * The last status and the last payload: the response body (`UrlLastResponse` in wire.ts). As JSON text, because
   * converting rows to objects and objects to text takes longer than the query (docs/decisions/reads.md).
   */
  urlLast(url: string): string | null | Promise<string | null>;
  /**
   * The same for many URLs, few enough to be read between other requests: one result for each, in their order, all in one
   * state of the database.
   */
  lastOfMany(urls: readonly string[], view: LastView): (string | null)[] | Promise<(string | null)[]>;
  /** The newest `limit` events and the newest `limit` payloads, newest first: the response body (`UrlHistoryResponse`). */
  urlHistory(url: string, limit: number): string | null | Promise<string | null>;

  /**
   * What people want to know about one URL: the newest `limit` events and payloads, newest first, the newest addresses,
   * and the tags. Null if the URL is unknown. Commands use it; `urlLast` and `urlHistory` are faster.
   */
  urlDetails(url: string, limit: number): Promise<UrlDetails | null>;

  /** The URLs that were stored last, the last one first. */
  lastStoredUrls(limit: number): Promise<UrlSummary[]>;
  /** In the order of the ids; unknown ones are left out. */
  urlSummaries(ids: readonly number[]): Promise<UrlSummary[]>;
  /**
   * Counts the URLs of the next ids after `after`, few enough to be counted between requests. `newest` are those of them
   * that are online and whose last events are the newest ones, up to NEWEST_URLS, newest first.
   */
  countUrls(after: number): Promise<{ urls: number; online: number; newest: UrlTime[] } & NextPage>;

  hasUrl(id: number): Promise<boolean>;
  /** The newest events of a URL inside the window, newest first. */
  statuses(id: number, window: TimeWindow, bounds: Bounds): AsyncIterable<StatusEvent[]>;
  /** The newest payloads of a URL, newest first. */
  payloads(id: number, bounds: Bounds): AsyncIterable<Payload[]>;
  /**
   * Every fact inside the window that matches the key, in any order: pages of lines, each a `Fact` as JSON. As text,
   * because SQLite joins a page of lines as fast as it returns the rows (docs/decisions/reads.md).
   */
  search(key: SearchKey, window: TimeWindow, bounds: Bounds): AsyncIterable<string>;
};

/** `status`: without the payload. */
export type LastView = 'last' | 'status';

/** A change of the status of a URL. `ts` is Unix seconds, as everywhere. */
export type StatusEvent = {
  ts: number;
  kind: EventKind;
  /** The reason of a removal; empty without one, and for every other kind. */
  removal: string;
  reporter: string;
};

/** A file that a URL served at `ts`. */
export type Payload = FileDetails & {
  ts: number;
  /** 64 lower-case hexadecimal digits. */
  sha256: string | null;
};

export type UrlLast = {
  id: number;
  url: string;
  /** The newest event; null when no observation of the URL has a status. */
  event: StatusEvent | null;
  payload: Payload | null;
};

export type ConfirmedEvent = StatusEvent & {
  /** When the status was last seen, before the next event; null: nobody saw it (an implied offline, or `added` before a first offline). */
  confirmedTs: number | null;
};

/** An address that the host of a URL had. */
export type UrlAddress = {
  ip: Uint8Array;
  /** The newest network that is known. */
  asn: number | null;
  /** The first sighting on the newest day. */
  ts: number;
};

export type UrlDetails = {
  id: number;
  url: string;
  events: ConfirmedEvent[];
  payloads: Payload[];
  /** Newest first. */
  addresses: UrlAddress[];
  /** In alphabetical order. */
  tags: string[];
};

/** URLs on the first page for people. */
export const NEWEST_URLS = 10;

/** The time is that of the last event. */
export type UrlTime = { id: number; ts: number };

/** A URL in a list that people read. */
export type UrlSummary = {
  id: number;
  url: string;
  /** Null when no observation of the URL has a status. */
  status: 'online' | 'offline' | null;
  /** Of the newest event; without any, of the newest payload or address. */
  ts: number;
  /** Of the newest event. */
  reporter: string | null;
  /** Of the newest payload. */
  family: string | null;
  /** Of the newest resolution; of several at that time the smallest address. */
  address: UrlAddress | null;
};

/** Where the next page of a count begins; null after the last one. */
type NextPage = { next: number | null };

/** One match of a search: the URL, and the time of the resolution, event or payload that matched. A line of the response. */
export type Fact = {
  ts: number;
  id: number;
  url: string;
};
