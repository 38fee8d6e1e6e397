import type { Intelligence } from '../../app/stores.ts';
import type { DomainEvidence, DomainFact } from '../../core/evidence.ts';
import { parseIp } from '../../core/ip/address.ts';
import { printDomainEvidence, printFact, printListing } from '../../ingest/evidence-json.ts';
import { printObservation } from '../../ingest/observation-json.ts';
import type { ExportedUrl, ExportFilter } from '../../urls/store.ts';
import { SHOWN_STATUS } from '../../urls/timeline.ts';
import { UsageError } from '../command.ts';
import { type CsvCell, csvRow } from '../csv.ts';
import { dataCommand, openExisting } from '../data-command.ts';
import { print } from '../output.ts';
import { readTime } from '../time.ts';
import { definitions } from '../usage.ts';

/** Yields whole lines, one page of the store at a time. */
type Lines = (store: Intelligence, filter: ExportFilter, signal: AbortSignal) => AsyncIterable<string>;

type ExportFormat = { name: string; summary: string; lines: Lines };

const FORMATS: readonly ExportFormat[] = [
  {
    name: 'ndjson',
    summary:
      '(default) all events, payloads and addresses of URLs, then all evidence on addresses and domains, and facts about domains, in the format of urlwarden import ndjson',
    lines: ndjsonLines,
  },
  { name: 'csv', summary: 'one row per URL with its last status and payload, for spreadsheets', lines: csvLines },
  { name: 'url-list', summary: 'one URL per line', lines: urlLines },
  {
    name: 'hosts',
    summary: 'a hosts file that maps the host names to 0.0.0.0; URLs with an IP address as host are omitted',
    lines: hostsLines,
  },
];
const FORMAT_NAMES = FORMATS.map(({ name }) => name).join(', ');

export const exportCommand = dataCommand(
  {
    synopsis: 'export',
    about: `Writes the stored data to standard output. The order depends only on the data. It also works while a server
is running. Settings of operators and feeds are not exported: urlwarden backup and urlwarden move take them along.

Formats:
${definitions(FORMATS.map(({ name, summary }) => [name, summary]))}`,
    flags: {
      format: { argument: 'FORMAT', meaning: FORMAT_NAMES },
      since: {
        argument: 'TIME',
        meaning:
          'only URLs with an event or payload since this time, and evidence and facts since then: Unix seconds or 2026-01-31T12:00:00Z',
      },
      status: {
        argument: 'STATUS',
        meaning: 'only URLs that are online, or only those that are offline; no evidence and no facts',
      },
      tag: { argument: 'TAG', meaning: 'only URLs with this tag, in any letter case; no evidence and no facts' },
    },
    examples: ['urlwarden export --format hosts --status online > hosts'],
  },
  async ({ flags, place }) => {
    const { lines } = readFormat(flags.format ?? 'ndjson');
    const filter: ExportFilter = { since: readSince(flags.since), status: readStatus(flags.status), tag: flags.tag };
    const store = await openExisting(place);
    try {
      for await (const text of lines(store, filter, new AbortController().signal)) await print(text);
      return 0;
    } finally {
      await store.close();
    }
  },
);

function readFormat(name: string): ExportFormat {
  const format = FORMATS.find((candidate) => candidate.name === name);
  if (format !== undefined) return format;
  throw new UsageError(`--format must be one of ${FORMAT_NAMES}, not ${JSON.stringify(name)}`);
}

function readSince(text: string | undefined): number | undefined {
  return text === undefined ? undefined : readTime('--since', text);
}

function readStatus(text: string | undefined): ExportFilter['status'] {
  if (text === undefined || text === 'online' || text === 'offline') return text;
  throw new UsageError(`--status must be online or offline, not ${JSON.stringify(text)}`);
}

async function* ndjsonLines(...[store, filter, signal]: Parameters<Lines>): AsyncGenerator<string> {
  for await (const observations of store.exportObservations(filter, signal)) {
    yield linesOf(observations, printObservation);
  }
  // Only URLs have a status and tags of their own.
  if (filter.status !== undefined || filter.tag !== undefined) return;
  const isWanted = ({ ts }: { ts: number }) => ts >= (filter.since ?? 0);
  for await (const page of store.exportListings(signal)) yield linesOf(page.filter(isWanted), printListing);
  for await (const page of store.exportDomains(signal)) yield linesOf(page.filter(isWanted), printDomainLine);
}

function linesOf<Item>(items: readonly Item[], printOne: (item: Item) => string): string {
  return items.map((item) => `${printOne(item)}\n`).join('');
}

function printDomainLine(item: DomainEvidence | DomainFact): string {
  return 'confidence' in item ? printDomainEvidence(item) : printFact(item);
}

async function* urlLines(...[store, filter, signal]: Parameters<Lines>): AsyncGenerator<string> {
  for await (const urls of store.exportUrls(filter, signal)) yield urls.map(({ url }) => `${url}\n`).join('');
}

/** Each host name once. The set of names takes about 100 bytes each; IP addresses are not stored in it. */
async function* hostsLines(...[store, filter, signal]: Parameters<Lines>): AsyncGenerator<string> {
  const written = new Set<string>();
  for await (const urls of store.exportUrls(filter, signal)) {
    const added = new Set(urls.map(({ host }) => host).filter((host) => !written.has(host) && !isAddress(host)));
    for (const host of added) written.add(host);
    yield [...added].map((host) => `0.0.0.0 ${host}\n`).join('');
  }
}

function isAddress(host: string): boolean {
  return parseIp(host.replace(/^\[|\]$/g, '')) !== null;
}

async function* csvLines(...[store, filter, signal]: Parameters<Lines>): AsyncGenerator<string> {
  yield csvRow(CSV_COLUMNS.map(([heading]) => heading));
  for await (const urls of store.exportUrls(filter, signal)) {
    yield urls.map((url) => csvRow(CSV_COLUMNS.map(([, cellOf]) => cellOf(url)))).join('');
  }
}

const CSV_COLUMNS: readonly (readonly [heading: string, cellOf: (url: ExportedUrl) => CsvCell])[] = [
  ['url', ({ url }) => url],
  ['status', ({ event }) => event && SHOWN_STATUS[event.kind]],
  ['ts', ({ event }) => event?.ts],
  ['removal', ({ event }) => event?.removal],
  ['reporter', ({ event }) => event?.reporter],
  ['payload_ts', ({ payload }) => payload?.ts],
  ['sha256_hash', ({ payload }) => payload?.sha256],
  ['mime_type', ({ payload }) => payload?.mimeType],
  ['file_type', ({ payload }) => payload?.fileType],
  ['file_ext', ({ payload }) => payload?.fileExt],
  ['file_size', ({ payload }) => payload?.fileSize],
  ['file_name', ({ payload }) => payload?.fileName],
  ['malware_family', ({ payload }) => payload?.family],
  ['tags', ({ tags }) => tags.join()],
];
