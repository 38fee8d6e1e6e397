import type { FileDetails, FileReport, Observation, ObservationInput } from '../core/observation.ts';
import type { TimeWindow } from '../core/time.ts';
import type { Bounds } from '../database/pages.ts';
import type { SearchKey } from './search-key.ts';
import type { EventKind } from './timeline.ts';

/** What a batch changed; all zero when it was applied before. */
export type ApplyReport = {
  urlsAdded: number;
  eventsChanged: number;
  payloadsAdded: number;
  resolutionsChanged: number;
};

/** A list of all that a feed calls online at `ts`. */
export type Listing = { feed: string; ts: number };

/** What finishing a listing would do. */
export type ListingEffect = {
  /** URLs of the feed that are online now, those that this listing named included. */
  online: number;
  /** How many of them the listing takes offline. */
  goingOffline: number;
};

/** Which URLs are exported, each with all that is known of it; everything where nothing is said. */
export type ExportFilter = {
  /** URLs whose newest event or payload is not older. */
  since?: number | undefined;
  /** URLs whose last status is this; removed counts as offline. */
  status?: 'online' | 'offline' | undefined;
};

export type ExportedUrl = UrlLast & { host: string };

/** The network of an address, which is sixteen sortable bytes (`core/ip.ts`). */
export type AddressNetwork = { ip: Uint8Array; asn: number };

/**
 * The intelligence store. URLs come in normalized (`core/url.ts`). A stream yields pages of records, never an empty
 * page; it is read by key, so that nothing is held between two pages, and it is no snapshot.
 * An engine that cannot answer throws an AppError `unavailable`.
 */
export type UrlStore = {
  /** Adds observations in one transaction. Applying the same ones again changes nothing. */
  /** With a listing, its feed has named their URLs. */
  apply(observations: readonly Observation[], listing?: Listing): Promise<ApplyReport>;
  /** Fills in what is unknown of files, also of those that no URL served yet; returns how many files changed. */
  applyFiles(files: readonly FileReport[]): Promise<number>;

  /** To be asked when all of the listing was applied and before it is finished. */
  listingEffect(listing: Listing): Promise<ListingEffect>;
  /**
   * The listing was read to its end: what its feed named before, and not since, is offline (docs/timeline.md). Done in
   * several transactions; when one is cut off, the next call for the feed goes on.
   */
  finishListing(listing: Listing): Promise<{ wentOffline: number }>;

  /**
   * Observations that leave behind what is stored, so that an empty store answers the same after applying them. Their
   * order depends on what is known alone, not on ids or arrival.
   */
  exportObservations(filter: ExportFilter, signal: AbortSignal): AsyncIterable<ObservationInput[]>;
  /** URLs with their last status and payload, in the order of `exportObservations`. */
  exportUrls(filter: ExportFilter, signal: AbortSignal): AsyncIterable<ExportedUrl[]>;

  /** Addresses that have a resolution without a network. One may come again after a while. */
  networklessAddresses(signal: AbortSignal): AsyncIterable<Uint8Array[]>;
  /** Gives the resolutions of these addresses their network, where they have none; returns how many changed. */
  setNetworks(networks: readonly AddressNetwork[]): Promise<number>;

  // At once where the engine is in this process: a promise and the timer beside it cost as much as half the look-up.
  urlId(url: string): number | null | Promise<number | null>;
  /**
   * The last status and the last payload: the body of the answer, as it is sent (`UrlLastResponse` in contract/url.ts). As
   * text, because making records of rows, the words of the wire of records and text of these costs more than the
   * database does (docs/decisions/reads.md).
   */
  urlLast(url: string): string | null | Promise<string | null>;
  /** The same of the newest `limit` events and the newest `limit` payloads, newest first (`UrlHistoryResponse`). */
  urlHistory(url: string, limit: number): string | null | Promise<string | null>;

  hasUrl(id: number): Promise<boolean>;
  /** The newest events of a URL inside the window, newest first. */
  statuses(id: number, window: TimeWindow, bounds: Bounds): AsyncIterable<StatusEvent[]>;
  /** The newest payloads of a URL, newest first. */
  payloads(id: number, bounds: Bounds): AsyncIterable<Payload[]>;
  /**
   * Every fact inside the window that matches the key, in any order: pages of lines, each a `Fact` as JSON. As text,
   * because SQLite joins a page of lines in the time in which it would hand out the rows alone (docs/decisions/reads.md).
   */
  search(key: SearchKey, window: TimeWindow, bounds: Bounds): AsyncIterable<string>;
};

/** A change in the life of a URL. `ts` is Unix seconds, here and everywhere. */
export type StatusEvent = {
  ts: number;
  kind: EventKind;
  /** Why the URL was removed; empty for every other kind and where no reason was given. */
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
  /** The newest event; null when all that was reported of the URL are facts without a status. */
  event: StatusEvent | null;
  payload: Payload | null;
};

/** One match of a search: the URL and the time of the resolution, event or payload that matched. A line on the wire. */
export type Fact = {
  ts: number;
  id: number;
  url: string;
};
