import { toHex } from '../core/byte-text.ts';

/** A table that both engines have, with the same columns in the same order. */
export type Table = {
  name: string;
  columns: readonly string[];
  /** The columns of the primary key in order; all columns if the table has none. */
  key: readonly string[];
};

export type Cell = null | number | string | boolean | Uint8Array;
export type Row = Cell[];

/** Rows whose key is greater than `after` and at most `upTo`; null means no bound. */
export type Range = { after: Row | null; upTo: Row | null };

export function keyOf({ columns, key }: Table, row: Row): Row {
  return key.map((column) => row[columns.indexOf(column)] ?? null);
}

/** Rows in the format of `copy … from stdin`, the same for rows of both engines. */
export function toCopyText(rows: readonly Row[]): string {
  return rows.map((row) => `${row.map(toCopyCell).join('\t')}\n`).join('');
}

/** https://www.postgresql.org/docs/current/sql-copy.html, "Text Format". */
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function toCopyCell(cell: Cell): string {
  if (cell === null) return '\\N';
  if (typeof cell === 'boolean') return cell ? '1' : '0';
  if (cell instanceof Uint8Array) return `\\\\x${toHex(cell)}`;
  return typeof cell === 'number' ? String(cell) : cell.replace(/[\\\t\n\r]/g, (found) => ESCAPES[found] ?? '');
}
