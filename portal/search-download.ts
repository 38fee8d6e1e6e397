import { csvCell } from './format.ts';
import type { SearchRecord } from './search-rows.ts';

// A result as a file. Its last line says if the result is incomplete: a file outlives the page that said it.

export type FileFormat = 'csv' | 'ndjson' | 'json';

export const FILE_TYPES: Record<FileFormat, string> = {
  csv: 'text/csv;charset=utf-8',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
};

const COLUMNS = ['ts', 'time', 'id', 'url', 'status', 'family', 'asn', 'network'] as const;
/** Parts of this many records are joined: a Blob of very many small parts takes much longer. */
const RECORDS_PER_PART = 1_000;

/** The parts of the file. `incomplete` is a sentence, or null for a complete result. */
export function* fileParts(
  format: FileFormat,
  records: Iterable<SearchRecord>,
  incomplete: string | null,
): Generator<string> {
  yield* joined(lines(format, records, incomplete), RECORDS_PER_PART);
}

function* lines(format: FileFormat, records: Iterable<SearchRecord>, incomplete: string | null): Generator<string> {
  if (format === 'csv') {
    yield `${COLUMNS.join(',')}\r\n`;
    for (const record of records) yield csvLine(record);
    if (incomplete !== null) yield `${csvCell(`# ${incomplete}`)}\r\n`;
    return;
  }
  const [begin, between, end] = format === 'json' ? ['[\n', ',\n', '\n]\n'] : ['', '\n', '\n'];
  let isFirst = true;
  for (const record of withLast(records, incomplete)) {
    yield (isFirst ? begin : between) + JSON.stringify(record);
    isFirst = false;
  }
  yield isFirst ? begin + end.trimStart() : end;
}

function* withLast(records: Iterable<SearchRecord>, incomplete: string | null): Generator<object> {
  yield* records;
  if (incomplete !== null) yield { incomplete };
}

/** Lines end as RFC 4180 says. */
function csvLine({ ts, id, url, status, family, asn, network }: SearchRecord): string {
  return `${[ts, isoTime(ts), id, url, status, family, asn, network].map(csvCell).join(',')}\r\n`;
}

const isoTime = (ts: number): string => new Date(ts * 1_000).toISOString().replace('.000Z', 'Z');

function* joined(parts: Iterable<string>, count: number): Generator<string> {
  let group: string[] = [];
  for (const part of parts) {
    group.push(part);
    if (group.length < count) continue;
    yield group.join('');
    group = [];
  }
  if (group.length > 0) yield group.join('');
}

/** `search-198.51.100.0-24.csv`: no character that a file system refuses. */
export function fileName(value: string, format: FileFormat): string {
  return `search-${value.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 80)}.${format}`;
}
