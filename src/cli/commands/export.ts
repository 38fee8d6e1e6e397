import type { Intelligence } from '../../app/stores.ts';
import { type CsvCell, csvRow } from '../../core/csv.ts';
import type { DomainEvidence, DomainFact } from '../../core/evidence.ts';
import { suggestion } from '../../core/suggestion.ts';
import { FORMATS as DEVICE_FORMATS } from '../../exports/formats/formats.ts';
import { printDomainEvidence, printFact, printListing } from '../../ingest/evidence-json.ts';
import { printObservation } from '../../ingest/observation-json.ts';
import type { ExportedUrl, ExportFilter } from '../../urls/store.ts';
import { SHOWN_STATUS } from '../../urls/timeline.ts';
import { UsageError } from '../command.ts';
import { dataCommand, openExisting } from '../data-command.ts';
import { readWord } from '../flag-values.ts';
import { exportList, LIST_FLAGS } from '../list-export.ts';
import { print, timeText } from '../output.ts';
import { readTime } from '../time.ts';
import { definitions } from '../usage.ts';

/** Yields whole lines, one page of the store at a time. `columns` are those of a csv. */
type Lines = (store: Intelligence, filter: ExportFilter, columns: readonly CsvColumn[]) => AsyncIterable<string>;

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
];
/** Formats of lists for devices. With them a list is meant. */
const LIST_FORMATS = DEVICE_FORMATS.filter(({ name }) => !FORMATS.some((format) => format.name === name));
const STATUSES = ['online', 'offline'] as const;
const TIME_FORMS = ['iso', 'unix'] as const;

const FORMAT_NAMES = FORMATS.map(({ name }) => name).join(', ');
const ALL_FORMATS = [...FORMATS, ...LIST_FORMATS].map(({ name }) => name);

type CsvColumn = readonly [heading: string, cellOf: (url: ExportedUrl) => CsvCell, isTime?: 'time'];

/** The default. Scripts may read columns by position: new ones go to the end. */
const CSV_COLUMNS: readonly CsvColumn[] = [
  ['url', ({ url }) => url],
  ['status', ({ event }) => event && SHOWN_STATUS[event.kind]],
  ['ts', ({ event }) => event?.ts, 'time'],
  ['removal', ({ event }) => event?.removal],
  ['reporter', ({ event }) => event?.reporter],
  ['payload_ts', ({ payload }) => payload?.ts, 'time'],
  ['sha256_hash', ({ payload }) => payload?.sha256],
  ['mime_type', ({ payload }) => payload?.mimeType],
  ['file_type', ({ payload }) => payload?.fileType],
  ['file_ext', ({ payload }) => payload?.fileExt],
  ['file_size', ({ payload }) => payload?.fileSize],
  ['file_name', ({ payload }) => payload?.fileName],
  ['malware_family', ({ payload }) => payload?.family],
  ['tags', ({ tags }) => tags.join()],
];

/** Only with `--columns`: with them an export takes nearly twice as long. */
const DETAIL_COLUMNS: readonly CsvColumn[] = [
  ['ip', ({ details }) => details?.address?.ip],
  ['asn', ({ details }) => details?.address?.asn],
  ['confirmed', ({ details }) => details?.confirmedTs, 'time'],
];

const ALL_COLUMNS = [...CSV_COLUMNS, ...DETAIL_COLUMNS];
const COLUMN_NAMES = ALL_COLUMNS.map(([heading]) => heading);

export const exportCommand = dataCommand(
  {
    synopsis: 'export',
    about: `Writes the stored data to standard output. The order depends only on the data. It also works while a server
is running. Settings of operators and feeds are not exported: urlwarden backup and urlwarden move copy them.

Formats:
${definitions(FORMATS.map(({ name, summary }) => [name, summary]))}
With --list it writes a list for devices (docs/lists.md), in one of its formats:
${definitions(DEVICE_FORMATS.map(({ name, summary }) => [name, summary]))}`,
    flags: {
      format: { argument: 'FORMAT', meaning: FORMAT_NAMES, values: ALL_FORMATS },
      ...LIST_FLAGS,
      since: {
        argument: 'TIME',
        meaning:
          'only URLs with an event or payload since this time, and evidence and facts since then: Unix seconds, 2026-01-31T12:00:00Z, or 30d or 12h ago',
      },
      status: {
        argument: 'STATUS',
        meaning: 'only URLs that are online, or only those that are offline; no evidence and no facts',
        values: STATUSES,
      },
      columns: {
        argument: 'LIST',
        meaning: `columns of csv in this order, separated by commas: ${COLUMN_NAMES.join(', ')} (default: all but the last ${DETAIL_COLUMNS.length})`,
        values: COLUMN_NAMES,
      },
      time: {
        argument: 'FORM',
        meaning: 'times of csv: iso (2026-01-31T12:00:00Z) or unix (seconds, the default)',
        values: TIME_FORMS,
      },
      tag: { argument: 'TAG', meaning: 'only URLs with this tag, in any letter case; no evidence and no facts' },
    },
    examples: [
      'urlwarden export --list hosts-malware --format hosts > hosts',
      'urlwarden export --list hosts-malware --explain files.example.com',
      'urlwarden export --format csv --time iso --columns url,status,confirmed,ip,asn > urls.csv',
    ],
  },
  async (input) => {
    const { flags, place } = input;
    if (flags.list !== undefined) {
      refuseFlags(flags, DATA_ONLY, 'a list: urlwarden list add defines one with a filter of its own');
      return exportList(input, flags.list);
    }
    refuseFlags(flags, LIST_ONLY, 'all data: add --list');
    const { name, lines } = readFormat(flags.format ?? 'ndjson');
    for (const flag of ['columns', 'time'] as const) {
      if (flags[flag] === undefined || name === 'csv') continue;
      throw new UsageError(`--${flag} has no meaning for the format ${name}: add --format csv`);
    }
    const columns = inTimeForm(readColumns(flags.columns), readWord('--time', flags.time ?? 'unix', TIME_FORMS));
    const since = flags.since === undefined ? undefined : readTime('--since', flags.since);
    const filter: ExportFilter = { since, status: readStatus(flags.status), tag: flags.tag };
    const store = await openExisting(place);
    try {
      for await (const text of lines(store, filter, columns)) await print(text);
      return 0;
    } finally {
      await store.close();
    }
  },
);

const DATA_ONLY = ['since', 'status', 'columns', 'time', 'tag'] as const;
const LIST_ONLY = ['max', 'profile', 'explain', 'allow-reserved'] as const;

function refuseFlags(given: Readonly<Record<string, unknown>>, flags: readonly string[], what: string): void {
  const bad = flags.find((flag) => given[flag] !== undefined);
  if (bad !== undefined) throw new UsageError(`--${bad} has no meaning for ${what}`);
}

function readFormat(name: string): ExportFormat {
  const format = FORMATS.find((candidate) => candidate.name === name);
  if (format !== undefined) return format;
  if (LIST_FORMATS.some((candidate) => candidate.name === name)) {
    throw new UsageError(`${name} is a format of lists: add --list, for example --list hosts-malware`);
  }
  const hint = suggestion(name, ALL_FORMATS);
  throw new UsageError(`--format must be one of ${FORMAT_NAMES}, not ${JSON.stringify(name)}${hint && `.${hint}`}`);
}

function readStatus(text: string | undefined): ExportFilter['status'] {
  if (text === undefined || text === 'online' || text === 'offline') return text;
  throw new UsageError(`--status must be online or offline, not ${JSON.stringify(text)}`);
}

function readColumns(text: string | undefined): readonly CsvColumn[] {
  if (text === undefined) return CSV_COLUMNS;
  return text.split(',').map((name) => {
    const column = ALL_COLUMNS.find(([heading]) => heading === name.trim());
    if (column !== undefined) return column;
    const hint = suggestion(name.trim(), COLUMN_NAMES);
    throw new UsageError(
      `--columns: there is no column ${JSON.stringify(name)}.${hint} Columns: ${COLUMN_NAMES.join(', ')}`,
    );
  });
}

function inTimeForm(columns: readonly CsvColumn[], form: (typeof TIME_FORMS)[number]): readonly CsvColumn[] {
  if (form === 'unix') return columns;
  return columns.map(([heading, cellOf, isTime]) => [heading, isTime ? (url) => isoCell(cellOf(url)) : cellOf]);
}

function isoCell(ts: CsvCell): CsvCell {
  return typeof ts === 'number' ? timeText(ts) : null;
}

async function* ndjsonLines(store: Intelligence, filter: ExportFilter): AsyncGenerator<string> {
  for await (const page of store.exportObservations(filter)) yield linesOf(page, printObservation);
  // Only URLs have a status and tags of their own.
  if (filter.status !== undefined || filter.tag !== undefined) return;
  const isWanted = ({ ts }: { ts: number }) => ts >= (filter.since ?? 0);
  for await (const page of store.exportListings()) yield linesOf(page.filter(isWanted), printListing);
  for await (const page of store.exportDomains()) yield linesOf(page.filter(isWanted), printDomainLine);
}

function linesOf<Item>(items: readonly Item[], printOne: (item: Item) => string): string {
  return items.map((item) => `${printOne(item)}\n`).join('');
}

function printDomainLine(item: DomainEvidence | DomainFact): string {
  return 'confidence' in item ? printDomainEvidence(item) : printFact(item);
}

async function* urlLines(store: Intelligence, filter: ExportFilter): AsyncGenerator<string> {
  for await (const urls of store.exportUrls(filter)) yield urls.map(({ url }) => `${url}\n`).join('');
}

async function* csvLines(
  store: Intelligence,
  filter: ExportFilter,
  columns: readonly CsvColumn[],
): AsyncGenerator<string> {
  const isDetailed = columns.some(([name]) => DETAIL_COLUMNS.some(([detail]) => detail === name));
  yield csvRow(columns.map(([heading]) => heading));
  for await (const urls of store.exportUrls(filter, isDetailed)) {
    yield urls.map((url) => csvRow(columns.map(([, cellOf]) => cellOf(url)))).join('');
  }
}
