import { csvRow } from '../src/core/csv.ts';
import type { BulkRow } from './bulk-read.ts';

// The answers as a file. The columns are those of `urlwarden check --csv`, and `times` at the end.

const COLUMNS = [
  'line',
  'input',
  'result',
  'url',
  'status',
  'ts',
  'removal',
  'reporter',
  'payload_ts',
  'sha256_hash',
  'file_type',
  'file_name',
  'malware_family',
  'error',
  'times',
];

/** Rows that were not looked up are left out; `incomplete` says so. */
export function* bulkFile(
  format: 'csv' | 'ndjson',
  rows: readonly BulkRow[],
  incomplete: string | null,
): Generator<string> {
  const isCsv = format === 'csv';
  if (isCsv) yield csvRow(COLUMNS);
  for (const row of rows) {
    if (row.error === null && row.answer === undefined) continue;
    yield isCsv ? csvRow(cellsOf(row)) : `${JSON.stringify(recordOf(row))}\n`;
  }
  if (incomplete !== null) yield isCsv ? csvRow([`# ${incomplete}`]) : `${JSON.stringify({ incomplete })}\n`;
}

const empty = (count: number): null[] => Array.from({ length: count }, () => null);

function cellsOf({ line, input, url, error, answer, times }: BulkRow) {
  if (error !== null) return [line, input, 'invalid', ...empty(10), error, times];
  if (!answer) return [line, input, 'unknown', url, ...empty(10), times];
  const { status, payload } = answer;
  return [
    line,
    input,
    'found',
    answer.url,
    status?.status,
    status?.ts,
    status?.removal,
    status?.reporter,
    payload?.ts,
    payload?.sha256_hash,
    payload?.file_type,
    payload?.file_name,
    payload?.['malware-family'],
    null,
    times,
  ];
}

function recordOf({ line, input, url, error, answer, times }: BulkRow): object {
  if (error !== null) return { line, input, times, error };
  if (!answer) return { line, input, times, found: false, url };
  const { n: _, ...found } = answer;
  return { line, input, times, ...found };
}
