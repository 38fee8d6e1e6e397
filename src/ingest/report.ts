import type { ImportCounts, ImportOutcome, Reject } from './store.ts';

/** What an import did. */
export type ImportReport = ImportCounts & {
  /** Under which its rejects are found; null for a dry run, which leaves nothing behind. */
  id: number | null;
  outcome: Exclude<ImportOutcome, 'failed'>;
  /** Why a complete listing was not applied; null otherwise. */
  error: string | null;
  /** The time of a complete listing that was applied. */
  listingTs: number | null;
  /** The first few, to be shown at once. */
  firstRejects: Reject[];
  seconds: number;
};

export type ImportProgress = {
  rows: number;
  rejected: number;
  readBytes: number;
  totalBytes: number | null;
  seconds: number;
};
