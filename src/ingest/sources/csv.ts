import { type InputLimits, type RejectItem, reject, type Source } from './format.ts';
import { faultOf, type Line, readLines, withoutReturn } from './lines.ts';

/** A record of a CSV file, or a comment line without its `#`. `line` is the first one of several. */
export type CsvRow = { kind: 'row' | 'comment'; line: number; text: string; fields: string[] };

/** A quoted field may have line breaks. A quote that nobody closes must not swallow the rest of the file. */
const MAX_LINES_PER_ROW = 1_000;
const NOT_CLOSED = 'a quoted field is not closed';
const MALFORMED = 'a quote stands where none may be';

/** RFC 4180, with `#` lines as comments, blanks before an opening quote, and LF as well as CRLF. Empty lines are nothing. */
export async function* readCsv(source: Source, limits: InputLimits): AsyncGenerator<(CsvRow | RejectItem)[]> {
  const assembler = createRowAssembler(limits.maxLineBytes);
  let number = 0;
  for await (const lines of readLines(source.bytes(), limits.maxLineBytes)) {
    for (const line of lines) {
      number += 1;
      assembler.take(line, number);
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

  /** A row that is given up gives lines back, which may give others back. */
  function take(line: Line, number: number): void {
    if (open.length === 0) {
      begin(line, number);
      return;
    }
    const waiting = goOn({ line, number }).reverse();
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (open.length === 0) begin(next.line, next.number);
      else waiting.push(...goOn(next).reverse());
    }
  }

  function begin(line: Line, number: number): void {
    const fault = faultOf(line);
    const text = withoutReturn(line.text);
    if (fault !== null) {
      rows.push(reject(number, text, fault));
    } else if (text.startsWith('#')) {
      rows.push({ kind: 'comment', line: number, text: text.slice(1), fields: [] });
    } else if (text !== '') {
      const fields = splitRow(text);
      if (typeof fields !== 'string') rows.push({ kind: 'row', line: number, text, fields });
      else if (fields === 'malformed') rows.push(reject(number, text, MALFORMED));
      else {
        open = [{ line, number }];
        openLength = text.length;
      }
    }
  }

  /** An even number of quotes leaves an open field open: `""` is a quote in it, `","` is its end and a new beginning. */
  function goOn(next: NumberedLine): NumberedLine[] {
    open.push(next);
    openLength += next.line.text.length + 1;
    const isTooLong = openLength > maxLength || open.length > MAX_LINES_PER_ROW;
    if (isTooLong || faultOf(next.line) !== null) return giveUp(NOT_CLOSED);
    if (!hasOddQuotes(next.line.text)) return [];
    const text = withoutReturn(open.map(({ line }) => line.text).join('\n'));
    const fields = splitRow(text);
    if (typeof fields === 'string') return giveUp(MALFORMED);
    rows.push({ kind: 'row', line: open[0]?.number ?? next.number, text, fields });
    open = [];
    return [];
  }

  /** Rejects the line that opened the field; the lines after it are read anew. */
  function giveUp(reason: string): NumberedLine[] {
    const [first, ...others] = open;
    open = [];
    if (first !== undefined) rows.push(reject(first.number, withoutReturn(first.line.text), reason));
    return others;
  }

  return {
    take,
    /** After the last line. */
    end(): void {
      while (open.length > 0) for (const { line, number } of giveUp(NOT_CLOSED)) take(line, number);
    },
    /** Those that are complete, each once. */
    rows(): (CsvRow | RejectItem)[] {
      const complete = rows;
      rows = [];
      return complete;
    },
  };
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const SPACE = 0x20;

/** The fields of a whole row; `open` when its last quoted field has no end. */
export function splitRow(text: string): string[] | 'open' | 'malformed' {
  const fields: string[] = [];
  for (let at = 0; ; at += 1) {
    let start = at;
    while (text.charCodeAt(start) === SPACE) start += 1;
    if (text.charCodeAt(start) === QUOTE) {
      const end = closingQuote(text, start + 1);
      if (end === -1) return 'open';
      fields.push(unescaped(text.slice(start + 1, end)));
      at = end + 1;
    } else {
      const comma = text.indexOf(',', at);
      const field = text.slice(at, comma === -1 ? text.length : comma);
      if (field.includes('"')) return 'malformed';
      fields.push(field);
      at += field.length;
    }
    if (at === text.length) return fields;
    if (text.charCodeAt(at) !== COMMA) return 'malformed';
  }
}

function closingQuote(text: string, from: number): number {
  let end = text.indexOf('"', from);
  while (end !== -1 && text.charCodeAt(end + 1) === QUOTE) end = text.indexOf('"', end + 2);
  return end;
}

function unescaped(field: string): string {
  return field.includes('"') ? field.replaceAll('""', '"') : field;
}

export function hasOddQuotes(text: string): boolean {
  let quotes = 0;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) quotes += 1;
  return quotes % 2 === 1;
}
