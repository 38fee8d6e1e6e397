import { splitRow } from '../src/core/csv.ts';
import { createMailDecoder } from '../src/core/mail-text.ts';
import { URL_ERRORS } from '../src/core/url/errors.ts';
import { cutAt, extractUrls } from '../src/core/url/extract.ts';
import { isPlainUrl, normalizeUrl, URL_MAX_LENGTH } from '../src/core/url/normalize.ts';
import { refangUrl, SCHEME_SOURCE } from '../src/core/url/refang.ts';
import type { BulkFoundLine } from '../src/urls/schemas.ts';

// The URLs of a pasted text or a file. Nothing is sent.

/**
 * `list`: every line is a URL, to its last character. In a text, URLs are searched for. In a table they are too, unless it
 * names the column that has them: then its cells are URLs, to the last character.
 */
export type InputKind = 'list' | 'csv' | 'text';

/** A URL of the input, or a text that should be one. Each once. */
export type BulkRow = {
  /** The first line with it. */
  line: number;
  /** How often it occurs. */
  times: number;
  /** As it is written there. */
  input: string;
  /** Normalized; null if it is none. */
  url: string | null;
  isDefanged: boolean;
  /** Why it is not valid. */
  error: string | null;
  /** Undefined: not looked up. Null: unknown. */
  found?: BulkFoundLine | null;
};

/** What was read so far. */
export type Reading = {
  rows: BulkRow[];
  /** Without blank ones. */
  lines: number;
  /** URLs with their repetitions. */
  occurrences: number;
  /** Different ones, like the two after it. */
  valid: number;
  invalid: number;
  defanged: number;
  /** Of a table: the name of the only column that is read, if it names one. */
  column: string | null;
};

/** A page with more needs hundreds of megabytes. */
export const MAX_ROWS = 250_000;
/** Takes some milliseconds. In between, the page is drawn. */
const PIECE_BYTES = 128 * 1024;
/** Of a line that is longer, URLs are searched in parts. */
const MAX_LINE_LENGTH = 256 * 1024;

export const newReading = (): Reading => ({
  rows: [],
  lines: 0,
  occurrences: 0,
  valid: 0,
  invalid: 0,
  defanged: 0,
  column: null,
});

type ReadOptions = {
  name: string;
  /** Null: the beginning decides. */
  kind: InputKind | null;
  /** After each piece. `part` is from 0 to 1. */
  onPiece(part: number, kind: InputKind): void;
  signal: AbortSignal;
};

/** Adds the URLs of the file to `reading`. Returns false if there are more than a page can have. */
export async function readBlob(blob: Blob, reading: Reading, options: ReadOptions): Promise<boolean> {
  const { name, onPiece, signal } = options;
  let kind = options.kind;
  let parse: ((line: number, text: string) => void) | null = null;
  let decoder: InstanceType<typeof TextDecoder> | null = null;
  let [open, number] = ['', 1];
  for (let at = 0; at < blob.size; at += PIECE_BYTES) {
    const bytes = new Uint8Array(await blob.slice(at, at + PIECE_BYTES).arrayBuffer());
    signal.throwIfAborted();
    decoder ??= new TextDecoder(charsetOf(bytes));
    const isLast = at + PIECE_BYTES >= blob.size;
    const text = open + decoder.decode(bytes, { stream: !isLast });
    kind ??= detectKind(text, name);
    parse ??= createParser(kind, text, reading);
    const lines = text.split('\n');
    open = isLast ? '' : (lines.pop() ?? '');
    for (const line of lines) parse(number++, line);
    if (open.length > MAX_LINE_LENGTH) {
      const end = cutAt(open);
      parse(number, open.slice(0, end));
      open = open.slice(end);
    }
    if (isLast) parse(number, END);
    onPiece(Math.min(1, (at + PIECE_BYTES) / blob.size), kind);
    if (reading.rows.length >= MAX_ROWS) return false;
  }
  return true;
}

/** Programs of Windows write UTF-16, with a mark at the beginning (Unicode 17.0, section 23.8). */
function charsetOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/** After the last line. A line never contains a newline. */
const END = '\n';

function createParser(kind: InputKind, start: string, reading: Reading): (line: number, text: string) => void {
  const delimiter = delimiterOf(firstLines(start)[0] ?? '');
  const column = kind === 'csv' ? urlColumn(start, delimiter) : null;
  reading.column = column?.name ?? null;
  const add = createCollector(reading);
  const addAll = (line: number, text: string) => {
    for (const url of extractUrls(text)) add(line, url);
  };
  const addRow = (line: number, row: string) => {
    const cells = column === null ? [] : splitRow(row, delimiter);
    const cell = column === null || typeof cells === 'string' ? undefined : cells[column.index];
    const urls = cellUrls(cell?.trim() ?? '');
    for (const url of urls) add(line, url);
    if (urls.length === 0) for (const part of cellParts(row, delimiter)) addAll(line, part);
  };
  const mail = createMailDecoder();
  return (line, text) => {
    if (text === END) {
      for (const part of mail.end()) addAll(line, part);
      return;
    }
    const isBlank = text.trim() === '';
    if (!isBlank) reading.lines++;
    if (kind === 'text') for (const part of mail.add(text.replace(/\r$/, ''))) addAll(line, part);
    else if (isBlank || text.trimStart().startsWith('#')) return;
    else if (kind === 'csv') addRow(line, text.replace(/\r$/, ''));
    else add(line, text.trim());
  };
}

const URL_CELL = new RegExp(String.raw`^\s*${SCHEME_SOURCE}\S+$`, 'i');

/** Of the column for URLs. A blank is a part of the URL, as in `http://a.example/my file.exe`, unless another one follows. */
function cellUrls(cell: string): string[] {
  if (URL_CELL.test(cell)) return [cell];
  const urls = extractUrls(cell);
  return urls.length === 1 && cell.startsWith(urls[0] ?? '') ? [cell] : urls;
}

/**
 * Cells of a row with escaped quotes are read one by one. In `"http://a.example/""b"` the quote is a part of the URL; it is
 * encoded as in the normalized one, because a quote in a text ends a URL. Any other row is read as it is: a URL after the
 * delimiter ends at the next one, so the first cell needs one too.
 */
function cellParts(row: string, delimiter: string): string[] {
  const cells = row.includes('""') ? splitRow(row, delimiter) : 'open';
  if (typeof cells === 'string') return [delimiter + row];
  return cells.map((cell) => (URL_CELL.test(cell) ? cell.replaceAll('"', '%22') : cell));
}

/**
 * The column that a table names `url`, in its first row or in the comment before it. Exports of threat feeds have another one
 * with links to their own pages, each of which would count as a query.
 */
function urlColumn(start: string, delimiter: string): { name: string; index: number } | null {
  const lines = start.split('\n').map((line) => line.trim());
  const first = lines.findIndex((line) => line !== '' && !line.startsWith('#'));
  for (const line of [lines[first], lines[first - 1]?.replace(/^#\s*/, '')]) {
    const names = splitRow(line ?? '', delimiter);
    if (typeof names === 'string') continue;
    const index = names.findIndex((name) => name.trim().toLowerCase() === 'url');
    if (index !== -1) return { name: names[index]?.trim() ?? '', index };
  }
  return null;
}

function createCollector(reading: Reading): (line: number, input: string) => void {
  const rowByKey = new Map<string, BulkRow>();
  return (line, input) => {
    reading.occurrences++;
    const { url, isDefanged, error } = readUrl(input);
    const text = input.slice(0, URL_MAX_LENGTH);
    const key = url ?? `invalid ${text}`;
    const known = rowByKey.get(key);
    if (known !== undefined) {
      known.times++;
      return;
    }
    if (reading.rows.length >= MAX_ROWS) return;
    const row: BulkRow = { line, times: 1, input: text, url, isDefanged, error };
    rowByKey.set(key, row);
    reading.rows.push(row);
    if (url === null) reading.invalid++;
    else reading.valid++;
    if (isDefanged) reading.defanged++;
  };
}

function readUrl(input: string): Pick<BulkRow, 'url' | 'isDefanged' | 'error'> {
  if (isPlainUrl(input)) return { url: input, isDefanged: false, error: null };
  const real = refangUrl(input);
  const normal = normalizeUrl(real);
  if (!normal.ok) return { url: null, isDefanged: false, error: URL_ERRORS[normal.error] };
  return { url: normal.url, isDefanged: real !== input, error: null };
}

/** What is sent: the server normalizes it again. */
export const sentText = ({ input, isDefanged }: BulkRow): string => (isDefanged ? refangUrl(input) : input);

/** Enough to see what a file is. */
const SAMPLE_LINES = 50;

function firstLines(text: string): string[] {
  const lines = text.slice(0, PIECE_BYTES).split('\n', 4 * SAMPLE_LINES);
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .slice(0, SAMPLE_LINES);
}

/**
 * A scheme and one word, or a word with a dot inside: a URL without its scheme is not valid, and the page must say so. Only one
 * dot can be the one inside: if each could, a line of 100,000 dots would take half a minute.
 */
const LIST_LINE = new RegExp(
  String.raw`^(?:${SCHEME_SOURCE}\S+|[^\s,;|"'<>=:@][^\s,;|"'<>=:@.]*\.[^\s,;|"'<>=]+)$`,
  'i',
);

/** What the beginning of a text looks like. */
export function detectKind(text: string, name: string): InputKind {
  if (/\.[ct]sv$/i.test(name)) return 'csv';
  const lines = firstLines(text);
  if (lines.length > 0 && lines.every((line) => LIST_LINE.test(line))) return 'list';
  const [head = '', second] = lines;
  const delimiter = delimiterOf(head);
  const isTable = second !== undefined && delimiter !== '' && lines.every((line) => line.includes(delimiter));
  const hasHeader = extractUrls(head).length === 0 || urlColumn(text, delimiter) !== null;
  return isTable && hasHeader ? 'csv' : 'text';
}

/** The most frequent of the usual ones; empty if there is none. A tab ends a URL without our help. */
function delimiterOf(line: string): string {
  const counts = [',', ';', '|'].map((mark) => ({ mark, count: line.split(mark).length - 1 }));
  const most = counts.reduce((best, next) => (next.count > best.count ? next : best));
  return most.count > 0 ? most.mark : '';
}
