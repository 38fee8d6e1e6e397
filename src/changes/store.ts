import type { AddressDataset } from '../core/evidence.ts';
import type { ChangeOperation, ListingSubject } from '../database/changes.ts';
import type { ReputationStore } from '../reputation/store.ts';

export { CHANGE_KINDS, CHANGE_OPERATIONS, type ChangeKind, type ChangeOperation } from '../database/changes.ts';
export type { ListingSubject };

/** Which changes a caller may see. */
export type AskedChanges = { urls: boolean; datasets: readonly AddressDataset[]; domains: boolean };

/** The last status and the last payload of a URL. */
export type UrlState = {
  id: number;
  url: string;
  /** `kind`: index in ENTRY_KINDS. */
  status: { ts: number; kind: number; removal: string; reporter: string } | null;
  payload: { ts: number; sha256: string | null; family: string | null } | null;
};

/** A change, with the subject as it is now. `listing`: a string is the address whose listing follows from URLs. */
export type Change = { seq: number; ts: number; op: ChangeOperation } & (
  | { kind: 'url'; url: UrlState }
  | { kind: 'listing'; listing: string | ListingSubject }
  | { kind: 'domain'; domain: string }
);

/** `lastSeq`: the cursor after this page, which also counts what was left out. Without changes there may still be more. */
export type ChangePage = { changes: Change[]; lastSeq: number };

/**
 * Why a cursor cannot be continued. `gone`: some of the changes after it are not kept, or were lost with a failover or
 * restore. `unknown`: no such number was given yet.
 */
export type BadCursor = 'gone' | 'unknown';

/** The port of the change feed. No number below one that was read appears later. */
export type ChangeStore = {
  /** The newest number; 0 without any. Every transaction that changes intelligence data makes it grow. */
  newestChange(): number | Promise<number>;
  /** The cursor before the oldest change that is kept. */
  oldestCursor(): number | Promise<number>;
  /** At most `limit` changes after a cursor, in order of `seq`. */
  changesAfter(after: number, asked: AskedChanges, limit: number): Promise<ChangePage | BadCursor>;
  /**
   * Deletes up to `limit` of the rows after the number `after` that are older; returns the last number that was deleted, null
   * without any.
   */
  removeOldChanges(beforeTs: number, after: number, limit: number): Promise<number | null>;
  /** As in `ReputationStore`, but never from a replica: it has all that `changesAfter` has returned. */
  currentListings: ReputationStore['listings'];
  currentDomain: ReputationStore['domainState'];
};
