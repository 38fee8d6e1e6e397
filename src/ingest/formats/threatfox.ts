import { parseIp } from '../../core/ip/address.ts';
import type { ObservationInput } from '../../core/observation.ts';
import type { EvidenceInput } from '../evidence.ts';
import type { Format, ParsedRow } from '../sources/format.ts';
import { readJson, recordItems } from '../sources/json.ts';
import { peekable } from '../sources/source.ts';
import { readTable, type Table } from './table.ts';
import { parseUtc, toSha256, toTags, toText } from './values.ts';

/** Current columns, columns before `is_compromised` was added. */
const COLUMNS =
  'first_seen_utc,ioc_id,ioc_value,ioc_type,threat_type,fk_malware,malware_alias,malware_printable,last_seen_utc,' +
  'confidence_level,is_compromised,reference,tags,anonymous,reporter';
const LAYOUT = COLUMNS.split(',');
const LAYOUTS = [LAYOUT, LAYOUT.filter((name) => name !== 'is_compromised')];

const TABLE: Table = {
  layouts: LAYOUTS,
  required: ['first_seen_utc', 'ioc_value', 'ioc_type', 'threat_type'],
  rowReader(columnOf) {
    const columns = [...LAYOUT, 'malware'].map((name) => [name, columnOf(name)] as const);
    const given = columns.filter(([, column]) => column >= 0);
    return (fields) => readRecord(Object.fromEntries(given.map(([name, column]) => [name, fields[column]])));
  },
};

export const threatfoxCsv: Format = {
  name: 'threatfox-csv',
  summary: 'ThreatFox export as CSV',
  hasEvidence: true,
  read: (source, limits) => readTable(source, limits, TABLE),
};

/** An object of lists keyed by id, one list of records, or the response of the API with a list as `data`. */
export const threatfoxJson: Format = {
  name: 'threatfox-json',
  summary: 'ThreatFox export as JSON: botnet controllers, malware domains, URLs and files',
  hasEvidence: true,
  async *read(source, limits) {
    const bytes = peekable(source.bytes());
    const start = (await bytes.start(START_BYTES)).toString('latin1', 0, START_BYTES);
    const path = RESPONSE.test(start) ? '$.data.*' : '$.*';
    for await (const finds of readJson(bytes.all, source.name, limits, [path]))
      yield finds.flatMap((find) => recordItems(find, readRecord));
  },
};

const START_BYTES = 1024;
const RESPONSE = /^\s*\{\s*"(?:query_status|data)"\s*:/;

/** An indicator of compromise. */
type Indicator = {
  value: string;
  isController: boolean;
  /** First and last seen. */
  seenTs: number[];
  family: string | null;
  confidence: number | undefined;
  isCompromised: boolean | null;
  tags: readonly string[];
  reporter: string;
};

const TIME_REASON = 'must be a time such as 2025-07-17 17:19:14';

/** The API has other names for some keys than the exports. */
function readRecord(record: Record<string, unknown>): ParsedRow {
  const value = record.ioc_value ?? record.ioc;
  if (typeof value !== 'string' || value.trim() === '') return 'ioc_value: missing';
  const firstTs = parseUtc(record.first_seen_utc ?? record.first_seen);
  if (firstTs === null) return `first_seen_utc: ${TIME_REASON}`;
  const last = record.last_seen_utc ?? record.last_seen;
  const lastTs = parseUtc(last);
  if (lastTs === null && toText(last) !== null) return `last_seen_utc: ${TIME_REASON}`;
  const confidence = toText(record.confidence_level) ?? record.confidence_level;
  return readIndicator(toText(record.ioc_type) ?? '', {
    value: value.trim(),
    isController: toText(record.threat_type) === 'botnet_cc',
    seenTs: lastTs === null || lastTs === firstTs ? [firstTs] : [firstTs, lastTs],
    family: toFamily(record.malware_printable),
    confidence: confidence === undefined || confidence === null || confidence === '' ? undefined : Number(confidence),
    isCompromised: toBoolean(record.is_compromised),
    tags: toTags(record.tags),
    reporter: toText(record.reporter) ?? '',
  });
}

function readIndicator(type: string, indicator: Indicator): ParsedRow {
  const { value, family, seenTs } = indicator;
  switch (type) {
    case 'ip:port':
      return readController(indicator);
    case 'domain':
      return { evidence: seenTs.map((ts) => domainEvidence(indicator, ts)) };
    case 'url':
      return { inputs: urlInputs(indicator) };
    case 'sha256_hash': {
      const sha256 = toSha256(value) ?? null;
      if (sha256 === null) return 'ioc_value: must be 64 hexadecimal digits';
      return {
        file: { sha256, mimeType: null, fileType: null, fileExt: null, fileSize: null, fileName: null, family },
      };
    }
    default:
      return `ioc_type: ${JSON.stringify(type)} is not used; only ip:port, domain, url and sha256_hash are`;
  }
}

/** `192.0.2.1:443`, `[2001:db8::1]:443`, `2001:db8::1:443`: the port follows the last colon. */
const IP_PORT = /^\[?([0-9a-f.:]+?)\]?:(\d{1,5})$/i;

function readController({ value, isController, seenTs, family, isCompromised }: Indicator): ParsedRow {
  const [, ip = '', port] = IP_PORT.exec(value) ?? [];
  if (parseIp(ip) === null) return 'ioc_value: must be an IP address and a port, such as 192.0.2.1:443';
  const dataset = isController ? 'BCL' : 'XBL';
  const details = { abused: isCompromised };
  return {
    evidence: seenTs.map((ts) => ({
      type: 'listing',
      network: ip,
      dataset,
      ts,
      botname: family,
      dstport: Number(port),
      details,
    })),
  };
}

function domainEvidence(indicator: Indicator, ts: number): EvidenceInput {
  const { value, isController, family, confidence, isCompromised, tags } = indicator;
  const kind = isController ? 'botnetcc' : 'malware';
  return { type: 'domain', domain: value, kind, ts, confidence, botname: family, isAbused: isCompromised, tags };
}

function urlInputs({ value: url, seenTs, family, reporter, tags }: Indicator): ObservationInput[] {
  return seenTs.map((ts, i) => ({
    ts,
    url,
    status: 'online',
    reporter,
    ...(i === 0 && family !== null && { payload: { family } }),
    ...(i === 0 && tags.length > 0 && { tags }),
  }));
}

const UNKNOWN_FAMILY = /^unknown(?: malware)?$/i;

function toFamily(printable: unknown): string | null {
  const family = toText(printable);
  return family === null || UNKNOWN_FAMILY.test(family) ? null : family;
}

/** A boolean in JSON, a word or a digit in CSV. */
function toBoolean(value: unknown): boolean | null {
  const text = String(value ?? '')
    .trim()
    .toLowerCase();
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : null;
}
