export type CsvCell = string | number | null | undefined;

/**
 * A spreadsheet runs a cell that begins like this as a formula (OWASP, "CSV Injection"), and may drop a control character; the
 * text is untrusted.
 */
const FORMULA_START = /^[=+\-@\p{Cc}]/u;
/** RFC 4180 section 2.6 */
const NEEDS_QUOTES = /[",\r\n]/;

/** One row as in RFC 4180, without cells that a spreadsheet would run. */
export function csvRow(cells: readonly CsvCell[]): string {
  return `${cells.map((cell) => csvCell(cell ?? null)).join(',')}\r\n`;
}

function csvCell(cell: string | number | null): string {
  if (typeof cell !== 'string') return cell === null ? '' : `${cell}`;
  const text = FORMULA_START.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const QUOTE = 0x22;
const SPACE = 0x20;

/**
 * The fields of a row, as in RFC 4180, with blanks before an opening quote; `open` if its last quoted field has no closing
 * quote. An empty delimiter: the row is one field.
 */
export function splitRow(text: string, delimiter = ','): string[] | 'open' | 'malformed' {
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
      const end = delimiter === '' ? -1 : text.indexOf(delimiter, at);
      const field = text.slice(at, end === -1 ? text.length : end);
      if (field.includes('"')) return 'malformed';
      fields.push(field);
      at += field.length;
    }
    if (at === text.length) return fields;
    if (text[at] !== delimiter) return 'malformed';
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
