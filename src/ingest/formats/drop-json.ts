import { type AppError, badRequest } from '../../core/errors.ts';
import { isObject } from '../../core/json-object.ts';
import type { EvidenceInput } from '../evidence.ts';
import { type Format, type Item, reject, type Source, truncated } from '../sources/format.ts';
import { wholeDocument } from '../sources/json.ts';
import { faultOf, readLines, withoutReturn } from '../sources/lines.ts';

/**
 * The time of the list is in its last line, so the rows are held in memory until then. Two lists in one file, such as
 * IPv4 and IPv6, each have their own last line.
 */
export const dropJson: Format = {
  name: 'drop-json',
  summary: 'DROP list of Spamhaus: one network per line as JSON, and the time of the list in the last line',
  hasEvidence: true,
  async *read(source, limits, { asOfTs, hasAsOf = false }) {
    let rows: DropRow[] = [];
    let listTs: number | null = hasAsOf ? asOfTs : null;
    let number = 0;
    for await (const lines of readLines(wholeDocument(source), limits.maxLineBytes)) {
      const rejects: Item[] = [];
      for (const line of lines) {
        number += 1;
        const text = withoutReturn(line.text);
        if (faultOf(line) === null && text.trim() === '') continue;
        const parsed = faultOf(line) ?? readLine(text);
        if (typeof parsed === 'string') rejects.push(reject(number, text, parsed));
        else if ('network' in parsed) rows.push({ network: parsed.network, line: number, text: truncated(text) });
        else {
          listTs = hasAsOf ? asOfTs : parsed.listTs;
          yield toItems(rows, listTs);
          rows = [];
        }
      }
      if (rows.length > MAX_ROWS) throw tooLong(source);
      if (rejects.length > 0) yield rejects;
    }
    if (rows.length === 0) return;
    if (listTs === null) throw noTime(source);
    yield toItems(rows, listTs);
  },
};

/** Real lists have about 1,500. */
const MAX_ROWS = 1_000_000;

type DropRow = { network: string; line: number; text: string };

function readLine(text: string): { network: string } | { listTs: number } | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'must be a JSON object';
  }
  if (!isObject(value)) return 'must be a JSON object';
  if (value.type === 'metadata') {
    const listTs = Number(value.timestamp);
    return Number.isSafeInteger(listTs) && listTs > 0 ? { listTs } : 'timestamp: must be Unix seconds';
  }
  if (typeof value.cidr === 'string') return { network: value.cidr };
  return value.asn === undefined ? 'cidr: missing' : 'cidr: missing; AS numbers are not listed';
}

function toItems(rows: readonly DropRow[], ts: number): Item[] {
  const time: Item = { kind: 'time', ts };
  return [
    time,
    ...rows.map(({ network, line, text }): Item => {
      const input: EvidenceInput = { type: 'listing', network, dataset: 'DROP', ts };
      return { kind: 'evidence', line, text, inputs: [input] };
    }),
  ];
}

function tooLong({ name }: Source): AppError {
  return badRequest(`${name}: more than ${MAX_ROWS} rows before the line with the time; check the file`);
}

/** Not the time of the import: an old copy would become the newest list. */
function noTime({ name }: Source): AppError {
  const message =
    'the list has no line with its time, so it may be cut off; get it again, or give its time with --as-of';
  return badRequest(`${name}: ${message}`);
}
