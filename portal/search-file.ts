import { csvRow } from '../src/core/csv.ts';
import type { FileFormat } from './download.ts';
import { isoText } from './format.ts';
import type { SearchRecord } from './search-rows.ts';

const COLUMNS = ['ts', 'time', 'id', 'url', 'status', 'family', 'asn', 'network'] as const;

/** `incomplete` is a sentence, or null for a complete result. */
export function* searchFile(
  format: FileFormat,
  records: Iterable<SearchRecord>,
  incomplete: string | null,
): Generator<string> {
  if (format === 'csv') {
    yield csvRow(COLUMNS);
    for (const record of records) yield csvRow(cellsOf(record));
    if (incomplete !== null) yield csvRow([`# ${incomplete}`]);
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

const cellsOf = ({ ts, id, url, status, family, asn, network }: SearchRecord) => [
  ts,
  isoText(ts).replace('.000Z', 'Z'),
  id,
  url,
  status,
  family,
  asn,
  network,
];
