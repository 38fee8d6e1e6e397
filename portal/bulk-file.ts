import { CHECK_COLUMNS, checkCells } from '../src/core/check-csv.ts';
import { csvRow } from '../src/core/csv.ts';
import type { BulkRow } from './bulk-read.ts';

// The results as a file. The columns are those of `urlwarden check --csv`, and `times` at the end.

/** Rows that were not looked up are left out; `incomplete` says so. */
export function* bulkFile(
  format: 'csv' | 'ndjson',
  rows: readonly BulkRow[],
  incomplete: string | null,
): Generator<string> {
  const isCsv = format === 'csv';
  if (isCsv) yield csvRow([...CHECK_COLUMNS, 'times']);
  for (const row of rows) {
    if (row.error === null && row.found === undefined) continue;
    yield isCsv ? csvRow([...checkCells(row), row.times]) : `${JSON.stringify(recordOf(row))}\n`;
  }
  if (incomplete !== null) yield isCsv ? csvRow([`# ${incomplete}`]) : `${JSON.stringify({ incomplete })}\n`;
}

function recordOf({ line, input, url, error, found, times }: BulkRow): object {
  if (error !== null) return { line, input, times, error };
  if (!found) return { line, input, times, found: false, url };
  const { n: _, ...result } = found;
  return { line, input, times, ...result };
}
