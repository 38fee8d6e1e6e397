import { type CsvCell, csvRow } from '../../core/csv.ts';
import type { AddressEntry, HostEntry, UrlEntry } from '../content.ts';
import { type Format, linesOf, TEXT_FORMAT, type Writer } from './format.ts';
import { hostKey, networkKey, oneLine, urlParts } from './values.ts';

type Value = string | number | null | readonly string[];
type Columns<Entry> = readonly (readonly [name: string, read: (entry: Entry) => Value])[];

/** Scripts may read columns by position: new ones go to the end. Times are Unix seconds. */
const URL_COLUMNS: Columns<UrlEntry> = [
  ['url', ({ url }) => url],
  ['id', ({ id }) => id],
  ['host', ({ host }) => host],
  ['status', ({ status }) => status],
  ['since', ({ sinceTs }) => sinceTs],
  ['seen', ({ seenTs }) => seenTs],
  ['reporter', ({ reporter }) => reporter],
  ['malware_family', ({ family }) => family],
  ['sha256_hash', ({ sha256 }) => sha256],
  ['tags', ({ tags }) => tags],
];

const HOST_COLUMNS: Columns<HostEntry> = [
  ['host', ({ host }) => host],
  ['domain', ({ domain }) => domain],
  ['score', ({ score }) => score],
  ['seen', ({ seenTs }) => seenTs],
  ['malware_families', ({ families }) => families],
  ['urls', ({ urls }) => urls],
  ['since', ({ sinceTs }) => sinceTs],
];

const ADDRESS_COLUMNS: Columns<AddressEntry> = [
  ['network', networkKey],
  ['dataset', ({ dataset }) => dataset],
  ['listed', ({ listedTs }) => listedTs],
  ['seen', ({ seenTs }) => seenTs],
  ['valid_until', ({ validUntilTs }) => validUntilTs],
  ['malware_family', ({ family }) => family],
  ['port', ({ port }) => port],
  ['sources', ({ sources }) => sources],
];

const hasUrl = ({ url }: UrlEntry) => urlParts(url) !== null;
const hasHost = (entry: HostEntry) => hostKey(entry) !== null;
const hasNetwork = (entry: AddressEntry) => networkKey(entry) !== null;

export const CSV: Format = {
  ...TEXT_FORMAT,
  name: 'csv',
  summary: 'spreadsheets, SIEM: all fields, with a heading',
  contentType: 'text/csv; charset=utf-8; header=present', // RFC 4180 section 3
  comment: null,
  hasAllFields: true,
  lineEnd: '\r\n',
  urls: { ...csvWriter(URL_COLUMNS, hasUrl), isUnique: () => true },
  hosts: { ...csvWriter(HOST_COLUMNS, hasHost), isUnique: () => true },
  addresses: csvWriter(ADDRESS_COLUMNS, hasNetwork),
};

export const NDJSON: Format = {
  ...TEXT_FORMAT,
  name: 'ndjson',
  summary: 'SIEM, scripts: all fields, one JSON object per line',
  contentType: 'application/x-ndjson',
  comment: null,
  hasAllFields: true,
  urls: { ...ndjsonWriter(URL_COLUMNS, hasUrl), isUnique: () => true },
  hosts: { ...ndjsonWriter(HOST_COLUMNS, hasHost), isUnique: () => true },
  addresses: ndjsonWriter(ADDRESS_COLUMNS, hasNetwork),
};

function csvWriter<Entry>(columns: Columns<Entry>, isFit: (entry: Entry) => boolean): Writer<Entry> {
  return {
    key: (entry) => (isFit(entry) ? csvLine(columns.map(([, read]) => csvValue(read(entry)))) : null),
    lines: (keys) => linesOf([csvLine(columns.map(([name]) => name))], keys, (row) => row),
  };
}

/** Texts of others are on one line: many readers of CSV know no line break inside quotes. */
function csvValue(value: Value): CsvCell {
  if (typeof value === 'number' || value === null) return value;
  return oneLine(typeof value === 'string' ? value : value.join());
}

const csvLine = (cells: readonly CsvCell[]): string => csvRow(cells).slice(0, -CSV.lineEnd.length);

function ndjsonWriter<Entry>(columns: Columns<Entry>, isFit: (entry: Entry) => boolean): Writer<Entry> {
  return {
    key: (entry) => (isFit(entry) ? jsonLine(columns.map(([name, read]) => [name, read(entry)])) : null),
    lines: (keys) => keys,
  };
}

/** Some programs end a line at these; JSON allows them unescaped. */
const LINE_BREAKS = /[\u007f-\u009f\u2028\u2029]/g;

const jsonLine = (members: readonly (readonly [string, Value])[]): string =>
  JSON.stringify(Object.fromEntries(members)).replace(
    LINE_BREAKS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
