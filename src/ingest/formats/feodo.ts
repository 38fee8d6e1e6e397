import type { Format, ParsedRow } from '../sources/format.ts';
import { readJson, recordItem } from '../sources/json.ts';
import { readTable, type Table } from './table.ts';
import { parseDay, parseUtc, seenTimes, toText } from './values.ts';

/** Current columns, columns of the dump with all controllers, which has no status. */
const LAYOUTS = [
  ['first_seen_utc', 'dst_ip', 'dst_port', 'c2_status', 'last_online', 'malware'],
  ['first_seen_utc', 'dst_ip', 'dst_port', 'last_online', 'malware'],
];

const TABLE: Table = {
  layouts: LAYOUTS,
  required: ['first_seen_utc', 'dst_ip', 'dst_port'],
  rowReader(columnOf) {
    const [first, last] = [columnOf('first_seen_utc'), columnOf('last_online')];
    const [ip, port, malware] = [columnOf('dst_ip'), columnOf('dst_port'), columnOf('malware')];
    return (fields) =>
      readRow({
        ip: fields[ip],
        port: fields[port],
        firstSeen: fields[first],
        lastOnline: fields[last],
        malware: fields[malware],
      });
  },
};

export const feodoCsv: Format = {
  name: 'feodo-csv',
  summary: 'Feodo Tracker as CSV',
  hasEvidence: true,
  read: (source, limits) => readTable(source, limits, TABLE),
};

export const feodoJson: Format = {
  name: 'feodo-json',
  summary: 'Feodo Tracker as JSON: botnet controllers',
  hasEvidence: true,
  async *read(source, limits) {
    for await (const finds of readJson(source.bytes(), source.name, limits, ['$.*'])) {
      yield finds.map(({ value, line }) => recordItem(value, line, readRecord));
    }
  },
};

function readRecord({
  ip_address: ip,
  port,
  first_seen: firstSeen,
  last_online: lastOnline,
  ...record
}: Record<string, unknown>) {
  const asn = Number.isInteger(record.as_number) ? Number(record.as_number) : null;
  return readRow({ ip, port, firstSeen, lastOnline, malware: record.malware, asn, cc: toCountry(record.country) });
}

/** A row with unparsed values. */
type FeodoRow = {
  ip: unknown;
  port: unknown;
  firstSeen: unknown;
  lastOnline: unknown;
  malware: unknown;
  asn?: number | null;
  cc?: string | null;
};

/** `last_online` is a day: it counts from its beginning, and only if that is later than `first_seen`. */
function readRow({ ip, port, firstSeen, lastOnline, malware, asn = null, cc = null }: FeodoRow): ParsedRow {
  const firstTs = parseUtc(firstSeen);
  if (firstTs === null) return 'first_seen: must be a time such as 2025-07-17 17:19:14';
  const network = toText(ip);
  if (network === null) return 'ip: missing';
  const text = String(port ?? '').trim();
  if (text !== '' && !/^\d{1,5}$/.test(text)) return 'port: must be a number';
  const dstport = text === '' ? null : Number(text);
  const lastTs = parseUtc(lastOnline) ?? parseDay(lastOnline);
  const listing = { type: 'listing', network, dataset: 'BCL', botname: toText(malware), dstport } as const;
  return { evidence: seenTimes(firstTs, lastTs).map((ts) => ({ ...listing, ts, details: { asn, cc } })) };
}

function toCountry(value: unknown): string | null {
  return typeof value === 'string' && /^[A-Za-z]{2}$/.test(value) ? value : null;
}
