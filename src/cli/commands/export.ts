import { requireData } from '../../store/data-folder.ts';
import { openStore } from '../../store/open.ts';
import type { ExportFilter } from '../../store/store.ts';
import { UsageError } from '../command.ts';
import { dataCommand, type Input } from '../data-command.ts';
import { print } from '../output.ts';
import { readTime } from '../time.ts';
import { csvLines, hostsLines, type Lines, ndjsonLines, urlLines } from './export/lines.ts';

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
    const store = await openStore(place);
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
