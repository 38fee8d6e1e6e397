import { type Static, type TProperties, Type } from 'typebox';
import { URL_MAX_LENGTH } from '../core/url/normalize.ts';
import { IntegerOrNull, StringOrNull, Timestamp, UrlId } from '../http/scalars.ts';
import type { StatusEvent, Payload as StoredPayload } from './store.ts';
import { ENTRY_KINDS } from './stored-timeline.ts';
import { type EventKind, SHOWN_STATUS } from './timeline.ts';

// All request and response schemas of this feature. The JSON keys are spelled only here.

/** A file that a URL served. All eight keys are always present; unknown values are null. */
export const Payload = Type.Object({
  ts: Timestamp,
  mime_type: StringOrNull,
  file_type: StringOrNull,
  file_ext: StringOrNull,
  file_size: IntegerOrNull,
  file_name: StringOrNull,
  sha256_hash: StringOrNull,
  'malware-family': StringOrNull,
});
export type Payload = Static<typeof Payload>;

/** The JSON keys of a payload, in their order, and the names of the same values in the code. */
export const PAYLOAD_KEYS = [
  ['ts', 'ts'],
  ['mime_type', 'mimeType'],
  ['file_type', 'fileType'],
  ['file_ext', 'fileExt'],
  ['file_size', 'fileSize'],
  ['file_name', 'fileName'],
  ['sha256_hash', 'sha256'],
  ['malware-family', 'family'],
] as const satisfies [keyof Payload, keyof StoredPayload][];

export function toWirePayload(payload: StoredPayload): Payload {
  return {
    ts: payload.ts,
    mime_type: payload.mimeType,
    file_type: payload.fileType,
    file_ext: payload.fileExt,
    file_size: payload.fileSize,
    file_name: payload.fileName,
    sha256_hash: payload.sha256,
    'malware-family': payload.family,
  };
}

const withStatus = <Status extends TProperties[string]>(status: Status) =>
  Type.Object({
    ts: Timestamp,
    status,
    removal: Type.String({ description: 'Reason for removal; empty when there is none.' }),
    reporter: Type.String({ description: 'Nickname of the reporter.' }),
  });

/** A change of the status of a URL. */
export const Event = withStatus(Type.Enum(['added', 'removed', 'online', 'offline']));
export type Event = Static<typeof Event>;

export function toWireEvent({ ts, kind, removal, reporter }: StatusEvent): Event {
  return { ts, status: kind, removal, reporter };
}

/** The current status of a URL. */
export const Status = withStatus(Type.Enum(['online', 'offline']));
export type Status = Static<typeof Status>;

/** The maximum of events, and of payloads, in a history. */
export const HISTORY_LIMIT = 100;

export const UrlRequest = Type.Object(
  { url: Type.String({ maxLength: URL_MAX_LENGTH, description: 'Any spelling of the URL.' }) },
  { additionalProperties: false },
);
export type UrlRequest = Static<typeof UrlRequest>;

const Url = Type.String({ description: 'The normalized URL.' });

export const UrlIdResponse = Type.Object({ id: UrlId });
export type UrlIdResponse = Static<typeof UrlIdResponse>;

export const UrlLastResponse = Type.Object({
  id: UrlId,
  url: Url,
  status: Type.Unsafe<Status | null>({ ...Status, type: ['object', 'null'] }),
  payload: Type.Unsafe<Payload | null>({ ...Payload, type: ['object', 'null'] }),
});
export type UrlLastResponse = Static<typeof UrlLastResponse>;

export const UrlHistoryResponse = Type.Object({
  id: UrlId,
  url: Url,
  events: Type.Array(Event, { maxItems: HISTORY_LIMIT, description: 'Newest first.' }),
  payloads: Type.Array(Payload, { maxItems: HISTORY_LIMIT, description: 'Newest first.' }),
});
export type UrlHistoryResponse = Static<typeof UrlHistoryResponse>;

/** Only types are checked here; `search-key.ts` checks addresses, hosts and hashes. */
export const SearchRequest = Type.Object(
  {
    ip: Type.Optional(Type.String({ description: 'IPv4 or IPv6 address, or CIDR.' })),
    host: Type.Optional(Type.String({ description: 'Hostname or IP literal; exact match, no subdomains.' })),
    asn: Type.Optional(
      Type.Unsafe<number | string>({
        type: ['integer', 'string'],
        description: '0 to 4294967295, as a number or a string, with or without a leading AS.',
      }),
    ),
    malware_family: Type.Optional(Type.String({ description: '1 to 128 characters, in any case.' })),
    sha256: Type.Optional(Type.String({ description: '64 hexadecimal characters, in any case.' })),
  },
  { additionalProperties: false, minProperties: 1, maxProperties: 1 },
);
export type SearchRequest = Static<typeof SearchRequest>;

export const SearchRecord = Type.Object({ ts: Timestamp, id: UrlId, url: Type.String() });
export type SearchRecord = Static<typeof SearchRecord>;

// JSON text. The stores compose response bodies here: converting rows to objects and objects to text takes longer than the
// query (docs/decisions/reads.md). Strings that repeat are passed as JSON, so that a store can cache them in that form.
// Constant parts are few and long: one more part in each of 200 records costs 5 µs.

/** Text that is valid JSON. */
export type Json = string;

export const NULL: Json = 'null';

/** For cached text: V8 stores a concatenation as a tree of its parts, and would walk the tree for every response. */
export const flatten = (text: string): string => Buffer.from(text).toString();

export function toJson(value: string | null): Json {
  return value === null ? NULL : JSON.stringify(value);
}

export const idJson = (id: number | null): Json | null => (id === null ? null : `{"id":${id}}`);

const statusMember = (status: string) => `,"status":${toJson(status)},"removal":`;
/** In the order of the kind codes. The codes of hidden kinds are greater. */
const EVENT_KINDS = ENTRY_KINDS.filter((kind): kind is EventKind => kind in SHOWN_STATUS);
const EVENT_STATUSES = EVENT_KINDS.map((kind) => statusMember(kind));
const LAST_STATUSES = EVENT_KINDS.map((kind) => statusMember(SHOWN_STATUS[kind]));

/** The JSON of an event after its `ts`. */
export type EventTail = string;

export function eventTail(kind: number, removal: Json, reporter: Json): EventTail {
  return `${EVENT_STATUSES[kind]}${removal},"reporter":${reporter}}`;
}

/** The current status of a URL, from its newest event. */
export function statusJson(ts: number, kind: number, removal: Json, reporter: Json): Json {
  return `{"ts":${ts}${LAST_STATUSES[kind]}${removal},"reporter":${reporter}}`;
}

/** The JSON of a payload after its `ts`. */
export type PayloadTail = string;

export function payloadTail(file: Omit<StoredPayload, 'ts' | 'family'>, family: Json): PayloadTail {
  const { mimeType, fileType, fileExt, fileSize, fileName, sha256 } = file;
  const type = `,"mime_type":${toJson(mimeType)},"file_type":${toJson(fileType)},"file_ext":${toJson(fileExt)}`;
  const name = `,"file_size":${fileSize},"file_name":${toJson(fileName)}`;
  return `${type}${name},"sha256_hash":${toJson(sha256)},"malware-family":${family}}`;
}

/** An event or a payload. */
export const recordJson = (ts: number, tail: EventTail | PayloadTail): Json => `{"ts":${ts}${tail}`;

/** An array of events or payloads without its `]`; empty at first. */
export type OpenArray = string;

export const addRecord = (array: OpenArray, ts: number, tail: EventTail | PayloadTail): OpenArray =>
  array === '' ? `[{"ts":${ts}${tail}` : `${array},{"ts":${ts}${tail}`;

const closed = (array: OpenArray): Json => (array === '' ? '[]' : `${array}]`);

export function lastJson(id: number, url: string, status: Json, payload: Json): Json {
  return `{"id":${id},"url":${toJson(url)},"status":${status},"payload":${payload}}`;
}

export function historyJson(id: number, url: string, events: OpenArray, payloads: OpenArray): Json {
  return `{"id":${id},"url":${toJson(url)},"events":${closed(events)},"payloads":${closed(payloads)}}`;
}

/** A line of a search response. */
export const searchLine = (ts: number, id: number, url: string): string =>
  `{"ts":${ts},"id":${id},"url":${toJson(url)}}\n`;

/** The same line without its end, as an SQL expression: SQLite joins a page of them faster than JavaScript. */
export const searchRecordSql = (ts: string, id: string, url: string): string =>
  `json_object('ts', ${ts}, 'id', ${id}, 'url', ${url})`;
