import type { ImportOutcome, ImportRecord, Reject } from './control.ts';

// How imports and their rejects lie in tables, on every engine.

/** Imports that are remembered of each feed: a feed fetched every hour shows four days. */
export const IMPORTS_KEPT = 100;

export type ImportRow = [
  id: number,
  format: string,
  feed: string,
  source: string,
  startedTs: number,
  finishedTs: number | null,
  outcome: ImportOutcome | null,
  counts: string,
  error: string | null,
];

export const IMPORT_COLUMNS = 'id, format, feed, source, started_ts, finished_ts, outcome, counts, error';

export function toImport(row: ImportRow): ImportRecord {
  const [id, format, feed, source, startedTs, finishedTs, outcome, counts, error] = row;
  return { id, format, feed, source, startedTs, finishedTs, outcome, counts: JSON.parse(counts), error };
}

export type RejectRow = [number: number, line: number, reason: string, text: string];

export const REJECT_COLUMNS = 'number, line, reason, text';

export function toReject([, line, reason, text]: RejectRow): Reject {
  return { line, reason, text };
}
