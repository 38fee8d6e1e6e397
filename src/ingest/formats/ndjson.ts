import { parseObservation } from '../observation-json.ts';
import type { Format } from '../sources/format.ts';
import { readLineItems } from '../sources/lines.ts';

export const ndjson: Format = {
  name: 'ndjson',
  summary: 'observations on paper, one JSON object per line, as `urlwarden export` writes them',
  read: (source, limits, { nowTs }) =>
    readLineItems(source, limits, (text) => {
      const parsed = parseObservation(text, nowTs);
      return parsed.ok ? parsed.input : parsed.reason;
    }),
};
