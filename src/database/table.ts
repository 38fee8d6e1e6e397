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

/** The same for a row of both engines: SQLite has numbers for booleans. Bytes are in the format that PostgreSQL reads. */
export function toPlain(row: Row): (null | number | string)[] {
  return row.map((cell) => {
    if (typeof cell === 'boolean') return Number(cell);
    return cell instanceof Uint8Array ? `\\x${toHex(cell)}` : cell;
  });
}
