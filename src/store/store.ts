import type { Observation } from '../core/observation.ts';
import type { Fact, Payload, StatusEvent, UrlHistory, UrlLast } from '../core/records.ts';
import type { SearchKey } from '../core/search-key.ts';
import type { Window } from '../core/window.ts';

/** What a batch changed; all zero when it was applied before. */
export type ApplyReport = {
  urlsAdded: number;
  eventsChanged: number;
  payloadsAdded: number;
  resolutionsChanged: number;
};

/** How much of a stream is wanted, and when to stop looking for it. */
export type Bounds = {
  limit: number;
  /** Looked at between statements: when it is aborted the stream ends by throwing its reason. */
  signal: AbortSignal;
};

/**
 * The intelligence store. URLs come in normalized (`core/url.ts`). A stream yields pages of records, never an empty
 * page; it is read by key, so that nothing is held between two pages, and it is no snapshot.
 * An engine that cannot answer throws an AppError `unavailable`.
 */
export type Store = {
  /** Adds observations in one transaction. Applying the same ones again changes nothing. */
  apply(observations: readonly Observation[]): Promise<ApplyReport>;

  urlId(url: string): Promise<number | null>;
  urlLast(url: string): Promise<UrlLast | null>;
  /** The newest `limit` events and the newest `limit` payloads, newest first. */
  urlHistory(url: string, limit: number): Promise<UrlHistory | null>;

  hasUrl(id: number): Promise<boolean>;
  /** The newest events of a URL inside the window, newest first. */
  statuses(id: number, window: Window, bounds: Bounds): AsyncIterable<StatusEvent[]>;
  /** The newest payloads of a URL, newest first. */
  payloads(id: number, bounds: Bounds): AsyncIterable<Payload[]>;
  /** Every fact inside the window that matches the key, in any order. */
  search(key: SearchKey, window: Window, bounds: Bounds): AsyncIterable<Fact[]>;

  /** Throws when the store cannot answer now. */
  ready(): Promise<void>;
  close(): Promise<void>;
};
