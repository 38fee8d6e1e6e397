import { type Figure, isReached, type Mark, median, type Result, ratios } from './figure.ts';

const HEADINGS = ['row', 'ours', 'yardstick', 'ratio (spread)', 'must be', ''];

/** The results as a Markdown table. */
export function tableOf(results: readonly Result[]): string {
  const rows = results.map(cellsOf);
  const widths = HEADINGS.map((heading, i) => Math.max(3, heading.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |\n`;
  return [HEADINGS, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('');
}

function cellsOf(result: Result): string[] {
  if ('missing' in result) return [result.name, 'MISSING', '', '', '', result.missing];
  const { name, unit, ours, yardstick, mark, note = '' } = result;
  const reached = isReached(result);
  return [
    name,
    `${numberText(median(ours))} ${unit}`,
    yardstick === null ? '' : `${numberText(median(yardstick))} ${unit}`,
    yardstick === null ? '' : spread(ratios(result as Figure)),
    mark === null ? '' : markText(mark),
    [reached === null ? '' : reached ? 'ok' : 'MISSED', note].filter((text) => text !== '').join(', '),
  ];
}

function spread(values: number[]): string {
  return `${median(values).toFixed(2)} (${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)})`;
}

function markText({ of, atLeast, atMost }: Mark): string {
  const what = of === 'ratio' ? '' : 'ours ';
  if (atLeast !== undefined && atMost !== undefined) return `${what}${atLeast}–${atMost}`;
  return atLeast === undefined ? `${what}≤ ${atMost}` : `${what}≥ ${atLeast}`;
}

/** Three significant digits, thousands with commas. */
function numberText(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : Number(value.toPrecision(3)).toString();
}
