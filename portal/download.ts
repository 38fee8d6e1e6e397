// Results as files. The last line says if a result is incomplete: a file outlives the page that said it.

export type FileFormat = 'csv' | 'ndjson' | 'json';

export const FILE_TYPES: Record<FileFormat, string> = {
  csv: 'text/csv;charset=utf-8',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
};

/** Parts of this many lines are joined: a Blob of very many small parts takes much longer. */
const LINES_PER_PART = 1_000;

export function* joined(lines: Iterable<string>): Generator<string> {
  let group: string[] = [];
  for (const line of lines) {
    group.push(line);
    if (group.length < LINES_PER_PART) continue;
    yield group.join('');
    group = [];
  }
  if (group.length > 0) yield group.join('');
}

/** `search-198.51.100.0-24.csv`: no character that a file system refuses. */
export function safeName(text: string, format: FileFormat): string {
  return `${text.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 90)}.${format}`;
}
