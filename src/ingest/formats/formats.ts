import { isObject, parseJson } from '../../core/json-object.ts';
import { isEvidence, parseEvidence } from '../evidence-json.ts';
import { parseObservation } from '../observation-json.ts';
import type { Format, ParsedRow } from '../sources/format.ts';
import { readLineItems } from '../sources/lines.ts';
import { domainList } from './domain-list.ts';
import { dropJson } from './drop-json.ts';
import { feodoCsv, feodoJson } from './feodo.ts';
import { ipList } from './ip-list.ts';
import { malwarebazaarCsv } from './malwarebazaar-csv.ts';
import { misp } from './misp.ts';
import { mispWarninglist } from './misp-warninglist.ts';
import { stix } from './stix.ts';
import { threatfoxCsv, threatfoxJson } from './threatfox.ts';
import { topList } from './top-list.ts';
import { urlList } from './url-list.ts';
import { urlhausCsv, urlhausJson, urlhausPayloads } from './urlhaus.ts';

export const ndjson: Format = {
  name: 'ndjson',
  summary: 'one observation or piece of evidence per line as a JSON object, as `urlwarden export` writes it',
  hasEvidence: true,
  statesFamilies: true,
  read: (source, limits, { nowTs }) => readLineItems(source, limits, (text) => readJsonLine(text, nowTs)),
};

function readJsonLine(text: string, nowTs: number): ParsedRow {
  const value = parseJson(text);
  if (isObject(value) && isEvidence(value)) {
    const input = parseEvidence(value, nowTs);
    return typeof input === 'string' ? input : { evidence: [input] };
  }
  const input = parseObservation(value, nowTs);
  return typeof input === 'string' ? input : { inputs: [input] };
}

/** All formats, in the order of the help text. */
export const FORMATS: readonly Format[] = [
  urlhausCsv,
  urlhausJson,
  urlhausPayloads,
  malwarebazaarCsv,
  threatfoxJson,
  threatfoxCsv,
  feodoJson,
  feodoCsv,
  dropJson,
  misp,
  stix,
  urlList,
  ipList,
  domainList,
  topList,
  mispWarninglist,
  ndjson,
];

export function findFormat(name: string): Format | null {
  return FORMATS.find((format) => format.name === name) ?? null;
}
