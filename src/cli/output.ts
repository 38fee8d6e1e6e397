import { once } from 'node:events';
import type { Reject } from '../ingest/store.ts';

/** Waits while the reader of our output is slower than we are. */
export async function print(text: string): Promise<void> {
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain');
}

/** `urlwarden … | head` closes the pipe when it has enough; that is no fault to report. */
export function leaveQuietlyOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
}

/** Text of strangers for a terminal: what would move its cursor or hide text is shown as `\u{1b}`. */
export function visible(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

export type Cell = string | number;

/** Columns under their headings, two spaces apart, numbers to the right. */
export function table(headings: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const texts = rows.map((row) => row.map((cell) => visible(`${cell}`)));
  const widths = headings.map((heading, i) => Math.max(heading.length, ...texts.map((row) => row[i]?.length ?? 0)));
  const isNumber = headings.map((_, i) => rows.length > 0 && rows.every((row) => typeof row[i] === 'number'));
  const line = (cells: readonly string[]) =>
    cells.map((cell, i) => (isNumber[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0))).join('  ');
  return [headings, ...texts].map((row) => `${line(row).trimEnd()}\n`).join('');
}

/** One thing under the other: name, value. */
export function listing(pairs: readonly (readonly [string, Cell])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${visible(`${value}`)}\n`).join('');
}

/** As in ISO 8601, in UTC. */
export function timeText(ts: number): string {
  return new Date(ts * 1000).toISOString().replace('.000Z', 'Z');
}

export function rejectText({ line, reason, text }: Reject): string {
  return `line ${line}: ${visible(reason)}\n  ${visible(text)}\n`;
}
