import { visible } from './output.ts';

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
