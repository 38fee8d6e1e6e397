import { splitRow } from '../../core/csv.ts';
import { flatText } from '../../core/text.ts';
import { type InputLimits, type RejectItem, reject, type Source } from './format.ts';
import { faultOf, type Line, readLines, withoutReturn } from './lines.ts';

/** A record of a CSV file, or a comment line without its `#`. `line` is the number of its first line. */
export type CsvRow = { kind: 'row' | 'comment'; line: number; text: string; fields: string[] };

/** A quoted field may contain line breaks. An unclosed quote must not consume the rest of the file. */
const MAX_LINES_PER_ROW = 1_000;
const NOT_CLOSED = 'a quoted field has no closing quote';
const MALFORMED = 'unexpected quote: quote the whole field, and write a quote inside it as ""';

/** RFC 4180, plus `#` comment lines, blanks before an opening quote, and LF or CRLF. Empty lines are ignored. */
export async function* readCsv(source: Source, limits: InputLimits): AsyncGenerator<(CsvRow | RejectItem)[]> {
  const assembler = createRowAssembler(limits.maxLineBytes);
  let number = 0;
  for await (const lines of readLines(source.bytes(), limits.maxLineBytes)) {
    for (const line of lines) {
      number += 1;
      assembler.add(line, number);
    }
    yield assembler.rows();
  }
  assembler.end();
  yield assembler.rows();
}

type NumberedLine = { line: Line; number: number };

function createRowAssembler(maxLength: number) {
  let rows: (CsvRow | RejectItem)[] = [];
  /** The lines of a row whose last quoted field is still open. */
  let open: NumberedLine[] = [];
  let openLength = 0;

  /** Rejecting an open row returns its other lines, which are added again and may return lines too. */
  function add(line: Line, number: number): void {
    if (open.length === 0) {
      startRow(line, number);
      return;
    }
    const pending = continueRow({ line, number }).reverse();
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (open.length === 0) startRow(next.line, next.number);
      else pending.push(...continueRow(next).reverse());
    }
  }

  function startRow(line: Line, number: number): void {
    const fault = faultOf(line);
    const text = withoutReturn(line.text);
    if (fault !== null) {
      rows.push(reject(number, text, fault));
    } else if (text.startsWith('#')) {
      rows.push({ kind: 'comment', line: number, text: text.slice(1), fields: [] });
    } else if (text !== '') {
      const fields = splitRow(text);
      if (typeof fields !== 'string') rows.push(toRow(number, text, fields));
      else if (fields === 'malformed') rows.push(reject(number, text, MALFORMED));
      else {
        open = [{ line, number }];
        openLength = text.length;
      }
    }
  }

  /** A line with an even number of quotes does not close the row: `""` is an escaped quote, `","` opens a new field. */
  function continueRow(next: NumberedLine): NumberedLine[] {
    open.push(next);
    openLength += next.line.text.length + 1;
    const isTooLong = openLength > maxLength || open.length > MAX_LINES_PER_ROW;
    if (isTooLong || faultOf(next.line) !== null) return rejectOpenRow(NOT_CLOSED);
    if (!hasOddQuotes(next.line.text)) return [];
    const text = withoutReturn(open.map(({ line }) => line.text).join('\n'));
    const fields = splitRow(text);
    if (typeof fields === 'string') return rejectOpenRow(MALFORMED);
    rows.push(toRow(open[0]?.number ?? next.number, text, fields));
    open = [];
    return [];
  }

  /** Rejects the line with the opening quote; returns the lines after it, to be parsed again. */
  function rejectOpenRow(reason: string): NumberedLine[] {
    const [first, ...others] = open;
    open = [];
    if (first !== undefined) rows.push(reject(first.number, withoutReturn(first.line.text), reason));
    return others;
  }

  return {
    add,
    /** Call this after the last line. */
    end(): void {
      while (open.length > 0) for (const { line, number } of rejectOpenRow(NOT_CLOSED)) add(line, number);
    },
    /** Returns the completed rows and removes them. */
    rows(): (CsvRow | RejectItem)[] {
      const complete = rows;
      rows = [];
      return complete;
    },
  };
}

/** A row that is longer than any useful one. */
const LONG_ROW = 16_384;

/** A batch has thousands of rows, and V8 keeps a whole row in memory as long as one of its fields is used. */
function toRow(line: number, text: string, fields: string[]): CsvRow {
  return { kind: 'row', line, text, fields: text.length > LONG_ROW ? fields.map(flatText) : fields };
}

function hasOddQuotes(text: string): boolean {
  let quotes = 0;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) quotes += 1;
  return quotes % 2 === 1;
}
