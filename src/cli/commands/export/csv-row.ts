/** A spreadsheet runs what begins so (OWASP, "CSV Injection"); the text is a stranger's. */
const RUNS = /^[=+\-@\t\r\n]/;
/** RFC 4180 section 2.6 */
const NEEDS_QUOTES = /[",\r\n]/;

/** One row as in RFC 4180, harmless to open. */
export function csvRow(cells: readonly (string | number | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: string | number | null): string {
  if (typeof cell !== 'string') return cell === null ? '' : `${cell}`;
  const text = RUNS.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
