import { openIntelligence } from '../../app/stores.ts';
import { parseIp } from '../../core/ip/address.ts';
import { requireData } from '../../database/data-folder.ts';
import { printObservation } from '../../ingest/observation-json.ts';
import type { ExportedUrl, ExportFilter, UrlStore } from '../../urls/store.ts';
import { STATUS_OF } from '../../urls/timeline.ts';
import { UsageError } from '../command.ts';
import { dataCommand, type Input } from '../data-command.ts';
import { print } from '../output.ts';
import { readTime } from '../time.ts';

/** Text of whole lines, a page of the store at a time. */
export type Lines = (store: UrlStore, filter: ExportFilter, signal: AbortSignal) => AsyncIterable<string>;

export const ndjsonLines: Lines = async function* (store, filter, signal) {
  for await (const observations of store.exportObservations(filter, signal)) {
    yield observations.map((observation) => `${printObservation(observation)}\n`).join('');
  }
};

const CSV_COLUMNS = ['url', 'status', 'ts', 'removal', 'reporter', 'payload_ts', 'sha256_hash', 'mime_type'];
const CSV_HEADINGS = [...CSV_COLUMNS, 'file_type', 'file_ext', 'file_size', 'file_name', 'malware_family'];

export const csvLines: Lines = async function* (store, filter, signal) {
  yield csvRow(CSV_HEADINGS);
  for await (const urls of store.exportUrls(filter, signal)) yield urls.map(toCsvRow).join('');
};

function toCsvRow({ url, event, payload }: ExportedUrl): string {
  return csvRow([
    url,
    event === null ? null : STATUS_OF[event.kind],
    event?.ts ?? null,
    event?.removal ?? null,
    event?.reporter ?? null,
    payload?.ts ?? null,
    payload?.sha256 ?? null,
    payload?.mimeType ?? null,
    payload?.fileType ?? null,
    payload?.fileExt ?? null,
    payload?.fileSize ?? null,
    payload?.fileName ?? null,
    payload?.family ?? null,
  ]);
}

export const urlLines: Lines = async function* (store, filter, signal) {
  for await (const urls of store.exportUrls(filter, signal)) yield urls.map(({ url }) => `${url}\n`).join('');
};

/** Each name once: the names are held, which takes about 100 bytes each; URLs at addresses cost nothing. */
export const hostsLines: Lines = async function* (store, filter, signal) {
  const named = new Set<string>();
  for await (const urls of store.exportUrls(filter, signal)) {
    const fresh = new Set(urls.map(({ host }) => host).filter((host) => !named.has(host) && !isAddress(host)));
    for (const host of fresh) named.add(host);
    yield [...fresh].map((host) => `0.0.0.0 ${host}\n`).join('');
  }
};

function isAddress(host: string): boolean {
  return parseIp(host.replace(/^\[|\]$/g, '')) !== null;
}

/** A spreadsheet runs what begins so (OWASP, "CSV Injection"); the text is a stranger's. */
const RUNS = /^[=+\-@\t\r\n]/;
/** RFC 4180 section 2.6 */
const NEEDS_QUOTES = /[",\r\n]/;

/** One row as in RFC 4180, harmless to open. */
export function csvRow(cells: readonly (string | number | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: string | number | null): string {
  if (typeof cell !== 'string') return cell === null ? '' : `${cell}`;
  const text = RUNS.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const FORMATS: Record<string, Lines> = {
  ndjson: ndjsonLines,
  csv: csvLines,
  'url-list': urlLines,
  hosts: hostsLines,
};
const FORMAT_NAMES = Object.keys(FORMATS).join(', ');

export const exportCommand = dataCommand(
  {
    synopsis: 'export [--format FORMAT] [--since TIME] [--status online|offline]',
    about: `Writes what is known to standard output, in an order that depends on nothing but the data, also beside a running
server. FORMAT is

  ndjson     (default) every event, payload and address, as urlwarden import ndjson reads it
  csv        one row per URL with its last status and payload, for spreadsheets
  url-list   one URL per line
  hosts      a hosts file that leads the names of these URLs nowhere; URLs at bare addresses have no name
`,
    flags: `  --format FORMAT   ${FORMAT_NAMES}
  --since TIME      URLs with an event or a payload since then: Unix seconds or 2026-01-31T12:00:00Z
  --status STATUS   URLs that are online, or offline
`,
    options: { format: { type: 'string' }, since: { type: 'string' }, status: { type: 'string' } },
  },
  async ({ options, place }) => {
    const lines = readFormat(options.format);
    const filter: ExportFilter = { since: readSince(options.since), status: readStatus(options.status) };
    if (!place.databaseUrl) requireData(place.dataDir);
    const store = await openIntelligence(place);
    try {
      for await (const text of lines(store, filter, new AbortController().signal)) await print(text);
      return 0;
    } finally {
      await store.close();
    }
  },
);

type Option = Input['options'][string] | undefined;

function readFormat(option: Option): Lines {
  const lines = FORMATS[`${option ?? 'ndjson'}`];
  if (lines === undefined) throw new UsageError(`--format must be one of ${FORMAT_NAMES}`);
  return lines;
}

function readSince(option: Option): number | undefined {
  return typeof option === 'string' ? readTime('--since', option) : undefined;
}

function readStatus(option: Option): ExportFilter['status'] {
  if (option === undefined || option === 'online' || option === 'offline') return option;
  throw new UsageError('--status must be online or offline');
}
