import { malwarebazaarCsv } from './feeds/malwarebazaar-csv.ts';
import { misp } from './feeds/misp.ts';
import { ndjson } from './feeds/ndjson.ts';
import { stix } from './feeds/stix.ts';
import { urlList } from './feeds/url-list.ts';
import { urlhausCsv } from './feeds/urlhaus-csv.ts';
import { urlhausJson } from './feeds/urlhaus-json.ts';
import { urlhausPayloads } from './feeds/urlhaus-payloads.ts';
import type { Format } from './format.ts';

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
