import { splitRow } from '../../core/csv.ts';
import type { Format, ParsedRow } from '../sources/format.ts';
import { readLineItems } from '../sources/lines.ts';

export const topList: Format = {
  name: 'top-list',
  summary: 'ranked list of popular sites, as Tranco publishes it: RANK,DOMAIN on each line',
  hasEvidence: true,
  async *read(source, limits, { asOfTs: ts }) {
    let isFirst = true;
    yield* readLineItems(source, limits, (line) => {
      if (line.startsWith('#')) return null;
      const isHeader = isFirst && HEADER.test(line);
      isFirst = false;
      return isHeader ? null : readRow(line, ts);
    });
    yield [{ kind: 'list_end', ts }];
  },
};

const HEADER = /^"?\w*rank"?\s*,/i;
const RANK = /^[1-9]\d{0,8}$/;

function readRow(line: string, ts: number): ParsedRow {
  const fields = splitRow(line);
  const [rank = '', domain = ''] = typeof fields === 'string' ? [] : fields;
  if (!RANK.test(rank.trim())) return 'rank: the first column must be a whole number from 1';
  return { evidence: [{ type: 'fact', domain: domain.trim(), rank: Number(rank), ts }] };
}
