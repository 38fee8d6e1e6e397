import { CHECK_COLUMNS, checkCells } from '../core/check-csv.ts';
import { csvRow } from '../core/csv.ts';
import type { UrlLastResponse } from '../urls/schemas.ts';
import type { Json } from '../urls/wire.ts';
import type { Entry } from './check-input.ts';
import { lineColumns, noteLines, shorten, timeText, visible } from './output.ts';

/** An entry with what is stored about it: the response of `url/last`, or null. */
export type Checked = { entry: Entry; last: Json | null };

export type CheckFormat = {
  /** Printed before the first result. */
  heading: string;
  print(checked: Checked): string;
};

function parsed(last: Json): UrlLastResponse {
  return JSON.parse(last) as UrlLastResponse;
}

export const JSON_LINES: CheckFormat = {
  heading: '',
  print({ entry, last }) {
    const { line, input } = entry;
    if (!entry.ok) return `${JSON.stringify({ line, input, error: entry.error, message: entry.reason })}\n`;
    if (last === null) return `${JSON.stringify({ line, input, found: false, url: entry.url })}\n`;
    return `{"line":${line},"input":${JSON.stringify(input)},"found":true,${last.slice(1)}\n`;
  },
};

export const CSV: CheckFormat = {
  heading: csvRow(CHECK_COLUMNS),
  print({ entry, last }) {
    const { line, input } = entry;
    if (!entry.ok) return csvRow(checkCells({ line, input, url: null, error: entry.reason }));
    const found = last === null ? null : parsed(last);
    return csvRow(checkCells({ line, input, url: entry.url, error: null, found }));
  },
};

const DAY_COLUMNS = '2026-01-31'.length;
const RESULT_COLUMNS = 'not known'.length;
/** A line number beyond it moves its line to the right. */
const LINE_COLUMNS = 7;
/** Most names of families are shorter. */
const FAMILY_COLUMNS = 12;

/** With less, a URL has a line of its own. */
const MIN_URL_COLUMNS = 20;

/** Widths are known before the last row, so memory does not grow. On a terminal a URL that is too long loses its middle. */
export function tableFormat(isTerminal: boolean): CheckFormat {
  const columns = isTerminal ? lineColumns() : Number.POSITIVE_INFINITY;
  const line = (number: string, result: string, day: string, family: string, url: string) => {
    const start = [number.padStart(LINE_COLUMNS), result.padEnd(RESULT_COLUMNS), day.padEnd(DAY_COLUMNS)].join('  ');
    const row = `${start}  ${shorten(visible(family), FAMILY_COLUMNS).padEnd(FAMILY_COLUMNS)}  `;
    if (columns - row.length >= MIN_URL_COLUMNS) return `${row}${shorten(visible(url), columns - row.length)}\n`;
    return `${shorten(row.trimEnd(), columns)}\n${noteLines([url])}`;
  };
  return {
    heading: line('LINE', 'RESULT', 'SINCE', 'FAMILY', 'URL'),
    print({ entry, last }) {
      const number = `${entry.line}`;
      if (!entry.ok) return line(number, 'no URL', '', '', entry.input) + noteLines([entry.reason]);
      if (last === null) return line(number, 'not known', '', '', entry.url);
      const { url, status, payload } = parsed(last);
      const day = status === null ? '' : timeText(status.ts).slice(0, DAY_COLUMNS);
      return line(number, status?.status ?? 'known', day, payload?.['malware-family'] ?? '', url);
    },
  };
}
