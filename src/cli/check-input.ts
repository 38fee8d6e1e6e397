import { splitRow } from '../core/csv.ts';
import { createMailDecoder } from '../core/mail-text.ts';
import { suggestion } from '../core/suggestion.ts';
import { extractUrls } from '../core/url/extract.ts';
import { isPlainUrl, normalizeUrl } from '../core/url/normalize.ts';
import { refangUrl } from '../core/url/refang.ts';
import { recognizeBytes } from '../ingest/recognize.ts';
import { type CsvRow, readCsv } from '../ingest/sources/csv.ts';
import type { InputLimits, RejectItem, Source } from '../ingest/sources/format.ts';
import { faultOf, readLines, withoutReturn } from '../ingest/sources/lines.ts';
import { peekable } from '../ingest/sources/source.ts';
import { UsageError } from './command.ts';
import { visible } from './output.ts';
import { refusalText } from './search-advice.ts';

/** One URL of the input, normalized, or a text that is none, with the reason. */
export type Entry = { line: number; input: string } & (
  | { ok: true; url: string }
  | { ok: false; error: string; reason: string }
);

/** Of one chunk of the input. `lines` counts lines or rows that may have URLs. */
export type EntryPage = { lines: number; entries: Entry[] };

type InputChoices = {
  /** Text is searched for URLs; otherwise each line or cell is one. */
  isExtracting: boolean;
  /** The name or the number of a CSV column; undefined if the input is no CSV. */
  column: string | undefined;
};

/** Memory does not grow with the input, except with the longest line. */
export function readEntries(
  source: Source,
  limits: InputLimits,
  { isExtracting, column }: InputChoices,
): AsyncGenerator<EntryPage> {
  if (column === undefined && isExtracting) return readText(source, limits);
  const decoded = { ...source, bytes: () => asUtf8(source.bytes(), { isStrict: true }) };
  if (column !== undefined) return readColumn(decoded, limits, column, isExtracting ? extracted : single);
  return readList(decoded, limits);
}

type ToEntries = (line: number, text: string) => Entry[];

/** Empty cells and comments have none. */
function single(line: number, text: string): Entry[] {
  const input = text.trim();
  return input === '' || input.startsWith('#') ? [] : [toEntry(line, input)];
}

function extracted(line: number, text: string): Entry[] {
  return extractUrls(text).map((input) => toEntry(line, input));
}

function toEntry(line: number, input: string): Entry {
  if (isPlainUrl(input)) return { line, input, ok: true, url: input };
  const normal = normalizeUrl(refangUrl(input));
  if (normal.ok) return { line, input, ok: true, url: normal.url };
  return { line, input, ok: false, error: normal.error, reason: refusalText(input, normal.error) };
}

function unreadable(line: number, text: string, fault: string): Entry {
  return { line, input: text, ok: false, error: 'unreadable', reason: sentence(fault) };
}

function sentence(fault: string): string {
  return `${fault.slice(0, 1).toUpperCase()}${fault.slice(1)}.`;
}

async function* readList(source: Source, limits: InputLimits): AsyncGenerator<EntryPage> {
  let number = 0;
  for await (const lines of readLines(source.bytes(), limits.maxLineBytes)) {
    const entries: Entry[] = [];
    for (const line of lines) {
      number += 1;
      const fault = faultOf(line);
      entries.push(...(fault === null ? single(number, line.text) : [unreadable(number, line.text, fault)]));
    }
    yield { lines: entries.length, entries };
  }
}

/** Logs, mail and other text. The line of a URL in an encoded part of a mail is where its text is complete. */
async function* readText(source: Source, limits: InputLimits): AsyncGenerator<EntryPage> {
  const mail = createMailDecoder();
  let number = 0;
  for await (const lines of readLines(asUtf8(source.bytes(), { isStrict: false }), limits.maxLineBytes)) {
    const entries: Entry[] = [];
    for (const line of lines) {
      number += 1;
      if (!line.ok) entries.push(unreadable(number, line.text, faultOf(line) ?? ''));
      else for (const text of mail.add(withoutReturn(line.text))) entries.push(...extracted(number, text));
    }
    yield { lines: lines.length, entries };
  }
  yield { lines: 0, entries: mail.end().flatMap((text) => extracted(number, text)) };
}

/**
 * Programs of Windows write UTF-16, in which no URL would be found. Bytes that are not valid UTF-8 stay if `isStrict`: their
 * line is reported. Otherwise they are replaced: a log or a mail may have some on the line of a URL.
 */
async function* asUtf8(chunks: AsyncIterable<Buffer>, { isStrict }: { isStrict: boolean }): AsyncGenerator<Buffer> {
  const bytes = peekable(chunks);
  try {
    const utf16 = utf16Of(await bytes.start(2));
    if (utf16 === undefined && isStrict) return yield* bytes.all;
    const decoder = new TextDecoder(utf16 ?? 'utf-8');
    for await (const chunk of bytes.all) yield Buffer.from(decoder.decode(chunk, { stream: true }));
    yield Buffer.from(decoder.decode());
  } finally {
    await bytes.close();
  }
}

/** Byte order marks (Unicode 17.0, section 23.8). */
const UTF16_MARKS: Readonly<Record<string, string>> = { fffe: 'utf-16le', feff: 'utf-16be' };

const utf16Of = (start: Buffer): string | undefined => UTF16_MARKS[start.toString('hex', 0, 2)];

/** Why no URL is found in an input that begins so; null if it can be read. */
export function whyUnreadable(start: Buffer): string | null {
  return utf16Of(start) === undefined ? recognizeBytes(start) : null;
}

async function* readColumn(
  source: Source,
  limits: InputLimits,
  column: string,
  toEntries: ToEntries,
): AsyncGenerator<EntryPage> {
  const number = /^\d{1,9}$/.test(column) ? Number(column) : null;
  if (number === 0) throw new UsageError('--column: columns are counted from 1');
  let at: number | null = null;
  for await (const rows of readCsv(source, limits)) {
    const page: EntryPage = { lines: 0, entries: [] };
    for (const row of rows) {
      if (row.kind === 'comment') at ??= number === null ? columnOfComment(row.text, column) : null;
      else if (at === null && row.kind === 'row') at = startAt(row, page);
      else addRow(page, row, at);
    }
    yield page;
  }

  /** The first row has the names of the columns. With a number, it may be a row like the others. */
  function startAt(row: CsvRow, page: EntryPage): number {
    if (number === null) return columnOf(row.fields, column);
    if (number > row.fields.length) throw noColumn(column, row.fields);
    const entries = toEntries(row.line, row.fields[number - 1] ?? '');
    if (entries.some(({ ok }) => ok)) addRow(page, row, number - 1);
    return number - 1;
  }

  function addRow(page: EntryPage, row: CsvRow | RejectItem, index: number | null): void {
    page.lines += 1;
    const text = row.kind === 'reject' || index === null ? undefined : row.fields[index];
    if (text !== undefined) page.entries.push(...toEntries(row.line, text));
    else page.entries.push(unreadable(row.line, row.text, row.kind === 'reject' ? row.reason : 'the row is too short'));
  }
}

/** Some dumps have the names in the last of their comments. */
function columnOfComment(text: string, column: string): number | null {
  const fields = splitRow(text.trim());
  const at = typeof fields === 'string' ? -1 : fields.findIndex((name) => name.trim() === column);
  return at === -1 ? null : at;
}

function columnOf(fields: readonly string[], column: string): number {
  const exact = fields.findIndex((name) => name.trim() === column);
  const at = exact === -1 ? fields.findIndex((name) => fold(name) === fold(column)) : exact;
  if (at === -1) throw noColumn(column, fields);
  return at;
}

function fold(name: string): string {
  return name.trim().toLowerCase();
}

/** A first row of data is not a list of names: a part of it is enough to see that. */
const NAMES_SHOWN = 20;

function noColumn(column: string, fields: readonly string[]): UsageError {
  const names = fields.map((name) => visible(name.trim()));
  const shown = `${names.slice(0, NAMES_SHOWN).join(', ')}${names.length > NAMES_SHOWN ? ', …' : ''}`;
  const isSeparated = fields.length > 1 || !/[;\t|]/.test(fields[0] ?? '');
  const hint = /^\d+$/.test(column) ? '' : suggestion(column, names, fold);
  const advice = isSeparated ? hint : ' Columns must be separated by commas: save the file again with commas.';
  return new UsageError(
    `--column: there is no column ${JSON.stringify(column)}.${advice} Columns of the first row: ${shown}`,
  );
}
