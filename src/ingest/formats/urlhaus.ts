import type { ObservationInput } from '../../core/observation.ts';
import type { Format, ParsedRow } from '../sources/format.ts';
import { readJson, recordItems } from '../sources/json.ts';
import { readTable, type Table } from './table.ts';
import { parseUtc, toSha256, toTags, toText } from './values.ts';

/** Current columns, columns before `last_online` was added, columns before `reporter` was added. */
const URL_LAYOUTS = [
  ['id', 'dateadded', 'url', 'url_status', 'last_online', 'threat', 'tags', 'urlhaus_link', 'reporter'],
  ['id', 'dateadded', 'url', 'url_status', 'threat', 'tags', 'urlhaus_link', 'reporter'],
  ['id', 'dateadded', 'url', 'url_status', 'threat', 'tags', 'urlhaus_link'],
];

const URL_TABLE: Table = {
  layouts: URL_LAYOUTS,
  required: ['dateadded', 'url', 'url_status'],
  rowReader(columnOf) {
    const added = columnOf('dateadded');
    const url = columnOf('url');
    const status = columnOf('url_status');
    const last = columnOf('last_online');
    const reporter = columnOf('reporter');
    const tags = columnOf('tags');
    return (fields) =>
      readUrlRow({
        dateadded: fields[added],
        url: toUrl(fields[url]),
        urlStatus: toText(fields[status]),
        lastOnline: fields[last],
        reporter: toText(fields[reporter]),
        tags: fields[tags],
      });
  },
};

export const urlhausCsv: Format = {
  name: 'urlhaus-csv',
  summary: 'URLhaus URL dump as CSV: full, recent or online, of any year',
  read: (source, limits) => readTable(source, limits, URL_TABLE),
};

/** An object of lists, keyed by id, or one list of records. */
export const urlhausJson: Format = {
  name: 'urlhaus-json',
  summary: 'URLhaus URL dump as JSON: full, recent or online',
  async *read(source, limits) {
    for await (const finds of readJson(source.bytes(), source.name, limits, ['$.*']))
      yield finds.flatMap((find) => recordItems(find, readRecord));
  },
};

function readRecord(record: Record<string, unknown>): ParsedRow {
  return readUrlRow({
    dateadded: record.dateadded,
    url: toUrl(record.url),
    urlStatus: toText(record.url_status),
    lastOnline: record.last_online,
    reporter: toText(record.reporter),
    tags: record.tags,
  });
}

/** A row of a URL dump, with unparsed values. */
type UrlRow = {
  dateadded: unknown;
  url: string | null;
  urlStatus: string | null;
  lastOnline: unknown;
  reporter: string | null;
  tags: unknown;
};

/** `unknown`: not checked yet. */
const STATUSES = ['online', 'offline', 'unknown', null];

/**
 * Converts a row of a URL dump to observations, or returns why it is rejected: online at `dateadded`; online at
 * `last_online` if given; with status offline also offline at `last_online`, or at `dateadded` if that is missing. The
 * first one has the tags. The result does not depend on the clock or on the date of the file.
 */
function readUrlRow(row: UrlRow): ParsedRow {
  const addedTs = parseUtc(row.dateadded);
  if (addedTs === null) return 'dateadded: must be a time such as 2025-07-17 17:19:14';
  if (row.url === null) return 'url: missing';
  if (!STATUSES.includes(row.urlStatus)) return 'url_status: must be online, offline or unknown';
  const { url } = row;
  const reporter = row.reporter ?? '';
  const lastTs = parseUtc(row.lastOnline);
  const tags = toTags(row.tags);
  const first: ObservationInput = { ts: addedTs, url, status: 'online', reporter };
  if (tags.length > 0) first.tags = tags;
  const inputs = [first];
  if (lastTs !== null && lastTs !== addedTs) inputs.push({ ts: lastTs, url, status: 'online', reporter });
  if (row.urlStatus === 'offline') inputs.push({ ts: lastTs ?? addedTs, url, status: 'offline', reporter });
  return { inputs };
}

/**
 * A payload has no status. "Online at `firstseen`" would be true, but a URL dump without `last_online` says offline at
 * `dateadded`, which is earlier: every such URL would become online again.
 */
const PAYLOAD_TABLE: Table = {
  layouts: [['firstseen', 'url', 'filetype', 'md5', 'sha256', 'signature']],
  required: ['firstseen', 'url', 'sha256'],
  rowReader(columnOf) {
    const first = columnOf('firstseen');
    const urlColumn = columnOf('url');
    const type = columnOf('filetype');
    const hash = columnOf('sha256');
    const signature = columnOf('signature');
    return (fields) => {
      const ts = parseUtc(fields[first]);
      if (ts === null) return 'firstseen: must be a time such as 2025-07-17 17:19:14';
      const url = toUrl(fields[urlColumn]);
      if (url === null) return 'url: missing';
      const sha256 = toSha256(fields[hash]);
      if (sha256 === undefined) return 'sha256: must be 64 hexadecimal digits';
      const fileType = toText(fields[type]);
      const family = toText(fields[signature]);
      if (sha256 === null && fileType === null && family === null)
        return 'sha256, filetype and signature are all missing';
      return { inputs: [{ ts, url, status: null, payload: { sha256, fileType, family } }] };
    };
  },
};

export const urlhausPayloads: Format = {
  name: 'urlhaus-payloads',
  summary: 'URLhaus payload dump as CSV: which URL served which file',
  read: (source, limits) => readTable(source, limits, PAYLOAD_TABLE),
};

/** Not limited in length, unlike `toText`: `normalizeUrl` validates URLs. Only a short text can mean "unknown" (`None`). */
function toUrl(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  return value.length < 5 ? toText(value) : value;
}
