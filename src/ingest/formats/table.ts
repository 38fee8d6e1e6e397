import type { FileReport, ObservationInput } from '../../core/observation.ts';
import { type CsvRow, readCsv, splitRow } from '../sources/csv.ts';
import { beginning, type InputLimits, type Item, type RejectItem, reject, type Source } from '../sources/format.ts';
import { parseUtc } from './values.ts';

/** What a row tells, or why it is rejected. */
export type RowReading = { inputs: ObservationInput[] } | { file: FileReport } | string;

/** A CSV file whose columns have names. */
export type Table = {
  /** The columns of files that do not name them, told apart by their number. */
  layouts: readonly (readonly string[])[];
  /** A line with these names is the one that tells the columns. */
  required: readonly string[];
  /** Called once, when the columns are known; -1 is the place of a column that is not there. */
  rowReader(columnOf: (name: string) => number): (fields: string[]) => RowReading;
};

const BANNER_TIME = /Last updated: (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)/;

export async function* readTable(source: Source, limits: InputLimits, table: Table): AsyncGenerator<Item[]> {
  let columns: readonly string[] | null = null;
  let readRow: (fields: string[]) => RowReading = () => '';
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

  /** The banner has a time, and the names of the columns stand in its last line. */
  function fromComment(text: string): Item[] {
    const ts = parseUtc(BANNER_TIME.exec(text)?.[1] ?? null);
    const fields = splitRow(text.trim());
    if (typeof fields !== 'string') useColumns(columnNames(fields, table.required) ?? columns);
    return ts === null ? [] : [{ kind: 'time', ts }];
  }

  function fromRow({ line, text, fields }: CsvRow): Item {
    const width = fields.length;
    const widths = (columns === null ? table.layouts : [columns]).map((layout) => layout.length);
    if (!widths.includes(width)) return reject(line, text, wrongWidth(width, widths));
    const reading = readRow(fields);
    if (typeof reading === 'string') return reject(line, text, reading);
    return 'file' in reading
      ? { kind: 'file', line, text: beginning(text), file: reading.file }
      : { kind: 'observations', line, text: beginning(text), inputs: reading.inputs };
  }

  function useColumns(names: readonly string[] | null): void {
    if (names === null || names === columns) return;
    columns = names;
    readRow = table.rowReader((name) => names.indexOf(name));
  }
}

function columnNames(fields: string[], required: readonly string[]): string[] | null {
  const names = fields.map((field) => field.trim().toLowerCase());
  return required.every((name) => names.includes(name)) ? names : null;
}

function wrongWidth(found: number, wanted: number[]): string {
  return `${found} ${found === 1 ? 'column' : 'columns'} where ${wanted.join(' or ')} are expected`;
}
