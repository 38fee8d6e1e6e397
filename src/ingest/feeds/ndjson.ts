import { parsePaper } from '../../core/observation-paper.ts';
import type { Format } from '../format.ts';
import { readLineItems } from '../line-items.ts';

export const ndjson: Format = {
  name: 'ndjson',
  summary: 'observations on paper, one JSON object per line, as `urlwarden export` writes them',
  read: (source, limits, { nowTs }) =>
    readLineItems(source, limits, (text) => {
      const parsed = parsePaper(text, nowTs);
      return parsed.ok ? parsed.input : parsed.reason;
    }),
};
