import { once } from 'node:events';
import type { Reject } from '../ingest/store.ts';

export { timeText } from '../core/time.ts';

/** Writes to standard output, and waits while its buffer is full. */
export async function print(text: string): Promise<void> {
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain');
}

/** `urlwarden … | head` closes the pipe when it has enough lines; that is not an error. */
export function exitQuietlyOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
}

/** Makes untrusted text safe for a terminal: control and format characters are shown as `\u{1b}`. */
export function visible(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

type Cell = string | number;

/** Columns with headings, separated by two spaces. Numbers are aligned to the right. */
export function table(headings: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const texts = rows.map((row) => row.map((cell) => visible(`${cell}`)));
  const widths = headings.map((heading, i) => Math.max(heading.length, ...texts.map((row) => row[i]?.length ?? 0)));
  const isNumber = headings.map((_, i) => rows.length > 0 && rows.every((row) => typeof row[i] === 'number'));
  const line = (cells: readonly string[]) =>
    cells.map((cell, i) => (isNumber[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0))).join('  ');
  return [headings, ...texts].map((row) => `${line(row).trimEnd()}\n`).join('');
}

/** One line per field: its name and its value. */
export function fieldList(fields: readonly (readonly [name: string, value: Cell])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${visible(`${value}`)}\n`).join('');
}

export function rejectText({ line, reason, text }: Reject): string {
  return `line ${line}: ${visible(reason)}\n  ${visible(text)}\n`;
}
