import { once } from 'node:events';
import type { Reject } from '../ingest/store.ts';
import { EXIT_FAILURE } from './command.ts';
import { countText } from './progress.ts';
import { wrap } from './usage.ts';

export { timeText } from '../core/time.ts';

/** Writes to standard output, and waits while its buffer is full. */
export async function print(text: string): Promise<void> {
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain');
}

/**
 * `urlwarden … | head` closes the pipe when it has enough lines; that is not an error. A command may have set the exit code
 * before. A message or a line of the log that cannot be written is lost, and the next one is tried again: a server must not
 * end because the disk with its log is full.
 */
export function handleOutputErrors(): void {
  process.stderr.on('error', () => {});
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit();
    process.stderr.write(`The output cannot be written: ${message}\n`);
    process.exit(EXIT_FAILURE);
  });
}

/** Makes untrusted text safe for a terminal: control and format characters are shown as `\u{1b}`. */
export function visible(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** The same for the heading of a result: a text without visible characters is quoted. */
export function visibleQuery(text: string): string {
  return text.trim() === '' ? JSON.stringify(text) : visible(text);
}

/** As a shell needs it. */
export function quoted(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Wraps long lines at the width of a terminal; other outputs get the text as it is. Lines that are indented or contain a
 * command stay whole: a command that was wrapped could not be copied.
 */
export function fitTerminal(text: string, { isTTY, columns }: { isTTY?: boolean; columns?: number }): string {
  if (!isTTY || !columns || columns < MIN_LINE_COLUMNS) return text;
  const isKept = (line: string) => line.length <= columns || line.startsWith(' ') || line.includes('urlwarden ');
  const lines = text.split('\n').flatMap((line) => (isKept(line) ? [line] : wrap(line, columns)));
  return lines.join('\n');
}

type Cell = string | number;

type TableOptions = {
  /** Headings of the columns that may be shortened so that a line fits. */
  shortened?: readonly string[];
  /** Headings of the columns whose numbers have a comma between thousands. */
  counts?: readonly string[];
  /** More lines for each row, below it. */
  notes?: readonly (readonly string[])[];
};

/** Columns with headings, separated by two spaces. Numbers are aligned to the right. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  { shortened = [], counts = [], notes = [] }: TableOptions = {},
): string {
  const isCount = headings.map((heading) => counts.includes(heading));
  const texts = rows.map((row) =>
    row.map((cell, i) => (isCount[i] && typeof cell === 'number' ? countText(cell) : visible(`${cell}`))),
  );
  const natural = headings.map((heading, i) => Math.max(heading.length, ...texts.map((row) => row[i]?.length ?? 0)));
  const isFlexible = headings.map((heading) => shortened.includes(heading));
  const widths = fitColumns(natural, headings, isFlexible, lineColumns());
  const isNumber = headings.map((_, i) => rows.length > 0 && rows.every((row) => typeof row[i] === 'number'));
  const cellText = (cell: string, i: number) => {
    const width = widths[i] ?? 0;
    return isNumber[i] ? cell.padStart(width) : shorten(cell, width).padEnd(width);
  };
  const line = (cells: readonly string[]) => `${cells.map(cellText).join('  ').trimEnd()}\n`;
  return line(headings) + texts.map((row, i) => line(row) + noteLines(notes[i] ?? [])).join('');
}

const DEFAULT_LINE_COLUMNS = 80;
/** With less, nothing readable is left of a name. */
const MIN_LINE_COLUMNS = 40;

/** COLUMNS, if it is exported; the width of the terminal; 80 for a pipe or a file. */
export function lineColumns(): number {
  const exported = Number(process.env.COLUMNS);
  const columns = Number.isInteger(exported) && exported > 0 ? exported : process.stdout.columns;
  return Math.max(columns || DEFAULT_LINE_COLUMNS, MIN_LINE_COLUMNS);
}

/** Narrows the widest of the flexible columns until the line fits, but none below its heading. */
function fitColumns(
  natural: readonly number[],
  headings: readonly string[],
  isFlexible: readonly boolean[],
  columns: number,
): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, width) => sum + width + 2, -2) - columns;
  for (; excess > 0; excess--) {
    const candidates = widths.map((width, i) => (isFlexible[i] && width > (headings[i]?.length ?? 0) ? width : 0));
    const widest = candidates.indexOf(Math.max(...candidates));
    if (candidates[widest] === 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

/** Sentences lose their end. Names, paths and URLs lose their middle: both of their ends distinguish them. */
export function shorten(text: string, columns: number): string {
  const characters = [...text];
  if (characters.length <= columns) return text;
  const end = text.includes(' ') ? 0 : Math.floor((columns - 1) / 2);
  const start = characters.slice(0, columns - 1 - end).join('');
  return `${start}…${characters.slice(characters.length - end).join('')}`;
}

/** Wrapped between words; a word that is longer than a line is shortened. */
export function noteLines(notes: readonly string[]): string {
  const columns = lineColumns() - NOTE_INDENT.length;
  return notes
    .flatMap((note) => wrap(visible(note), columns))
    .map((line) => `${NOTE_INDENT}${shorten(line, columns)}\n`)
    .join('');
}

const NOTE_INDENT = '  ';

/** One line per field: its name and its value. */
export function fieldList(fields: readonly (readonly [name: string, value: Cell])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${visible(`${value}`)}\n`).join('');
}

/** Of a row with NUL, or with bytes that are no UTF-8: more of it helps nobody. */
const BINARY_MAX_LENGTH = 60;
const BINARY = /[\0\ufffd]/;

/** `maxLength` is that of the text as it is shown. */
export function rejectText({ line, reason, text }: Reject, maxLength = Number.MAX_SAFE_INTEGER): string {
  const max = BINARY.test(text) ? Math.min(BINARY_MAX_LENGTH, maxLength) : maxLength;
  const shown = visible(text);
  return `line ${countText(line)}: ${visible(reason)}\n  ${shown.length > max ? `${shown.slice(0, max)}…` : shown}\n`;
}
