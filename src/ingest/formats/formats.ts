import type { Format } from '../sources/format.ts';
import { malwarebazaarCsv } from './malwarebazaar-csv.ts';
import { misp } from './misp.ts';
import { ndjson } from './ndjson.ts';
import { stix } from './stix.ts';
import { urlList } from './url-list.ts';
import { urlhausCsv, urlhausJson, urlhausPayloads } from './urlhaus.ts';

/** Every format there is, in the order of the list that people see. */
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
