import { splitRow } from '../../core/csv.ts';
import { type CsvRow, readCsv } from '../sources/csv.ts';
import {
  type InputLimits,
  type Item,
  type ParsedRow,
  type RejectItem,
  reject,
  type Source,
  toItem,
} from '../sources/format.ts';
import { parseUtc } from './values.ts';

/** A CSV file with named columns. */
export type Table = {
  /** Columns of files without a header, selected by their number. */
  layouts: readonly (readonly string[])[];
  /** A line with these names is the header. */
  required: readonly string[];
  /** Called when the columns are known. `columnOf` returns -1 for a missing column. */
  rowReader(columnOf: (name: string) => number): (fields: string[]) => ParsedRow;
};

const BANNER_TIME = /Last updated: (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)/;

export async function* readTable(source: Source, limits: InputLimits, table: Table): AsyncGenerator<Item[]> {
  let columns: readonly string[] | null = null;
  let readRow: (fields: string[]) => ParsedRow = () => '';
  for await (const rows of readCsv(source, limits)) {
    const items: Item[] = [];
    for (const row of rows) items.push(...toItems(row));
    if (items.length > 0) yield items;
  }

  function toItems(row: CsvRow | RejectItem): Item[] {
    if (row.kind === 'reject') return [row];
    if (row.kind === 'comment') return fromComment(row.text);
    if (columns === null) {
      const names = columnNames(row.fields, table.required);
      useColumns(names ?? table.layouts.find((layout) => layout.length === row.fields.length) ?? null);
      if (names !== null) return [];
    }
    return [fromRow(row)];
  }

  /** The banner contains a time; its last line is the header. */
  function fromComment(text: string): Item[] {
    const ts = parseUtc(BANNER_TIME.exec(text)?.[1] ?? null);
    const fields = splitRow(text.trim());
    if (typeof fields !== 'string') useColumns(columnNames(fields, table.required));
    return ts === null ? [] : [{ kind: 'time', ts }];
  }

  function fromRow({ line, text, fields }: CsvRow): Item {
    const width = fields.length;
    const widths = (columns === null ? table.layouts : [columns]).map((layout) => layout.length);
    if (!widths.includes(width)) return reject(line, text, wrongWidth(width, widths));
    return toItem(line, text, readRow(fields));
  }

  function useColumns(names: readonly string[] | null): void {
    if (names === null) return;
    columns = names;
    readRow = table.rowReader((name) => names.indexOf(name));
  }
}

function columnNames(fields: string[], required: readonly string[]): string[] | null {
  const names = fields.map((field) => field.trim().toLowerCase());
  return required.every((name) => names.includes(name)) ? names : null;
}

function wrongWidth(found: number, expected: number[]): string {
  return `${found} ${found === 1 ? 'column' : 'columns'} instead of ${expected.join(' or ')}`;
}
