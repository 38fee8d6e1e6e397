import { parseObservation } from '../observation-json.ts';
import type { Format } from '../sources/format.ts';
import { readLineItems } from '../sources/lines.ts';
import { malwarebazaarCsv } from './malwarebazaar-csv.ts';
import { misp } from './misp.ts';
import { stix } from './stix.ts';
import { urlList } from './url-list.ts';
import { urlhausCsv, urlhausJson, urlhausPayloads } from './urlhaus.ts';

export const ndjson: Format = {
  name: 'ndjson',
  summary: 'one observation per line as a JSON object, as `urlwarden export` writes it',
  read: (source, limits, { nowTs }) =>
    readLineItems(source, limits, (text) => {
      const parsed = parseObservation(text, nowTs);
      return parsed.ok ? parsed.input : parsed.reason;
    }),
};

/** All formats, in the order of the help text. */
export const FORMATS: readonly Format[] = [
  urlhausCsv,
  urlhausJson,
  urlhausPayloads,
  malwarebazaarCsv,
  misp,
  stix,
  urlList,
  ndjson,
];

export function findFormat(name: string): Format | null {
  return FORMATS.find((format) => format.name === name) ?? null;
}
