import { parseKeyNetwork } from '../../core/ip/key-network.ts';
import { noNetwork } from '../evidence.ts';
import type { Format, Item, ParsedRow, ReadOptions } from '../sources/format.ts';
import { readLineItems } from '../sources/lines.ts';

/** Columns after the address are ignored: `192.0.2.0/24 ; SBL1`, `192.0.2.1,3,2026-01-31`. */
const END_OF_COLUMN = /[\s,;#]/;

export const ipList: Format = {
  name: 'ip-list',
  summary: 'one address or network per line, for --dataset, or --as allow or shared; # and ; start a comment',
  hasEvidence: true,
  hasNoTimes: true,
  choices: { dataset: true, listKinds: ['allow', 'shared'], isRequired: true },
  async *read(source, limits, options) {
    yield* readLineItems(source, limits, (line) => {
      const entry = firstColumn(line);
      return entry === null ? null : readEntry(entry, options);
    });
    yield* listEnd(options);
  },
};

/** null for a comment. */
export function firstColumn(line: string): string | null {
  const text = line.trim();
  const end = text.search(END_OF_COLUMN);
  if (end === 0) return text.startsWith(',') ? text : null;
  return end === -1 ? text : text.slice(0, end);
}

function readEntry(entry: string, { dataset, listKind, asOfTs: ts }: ReadOptions): ParsedRow {
  if (listKind != null) {
    // A list of shared sites may also have names, but not in this format.
    return parseKeyNetwork(entry) === null
      ? noNetwork(entry)
      : { evidence: [{ type: 'list', as: listKind, entry, ts }] };
  }
  if (dataset == null) throw new Error('ip-list needs a dataset or the kind of a list');
  return { evidence: [{ type: 'listing', network: entry, dataset, ts }] };
}

/** Absence from a list of listed addresses ends nothing: listings expire. */
function* listEnd({ listKind, asOfTs: ts }: ReadOptions): Generator<Item[]> {
  if (listKind != null) yield [{ kind: 'list_end', ts }];
}
