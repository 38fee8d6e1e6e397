export type CsvCell = string | number | null | undefined;

/** A spreadsheet runs a cell that begins like this as a formula (OWASP, "CSV Injection"); the text is untrusted. */
const FORMULA_START = /^[=+\-@\t\r\n]/;
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
