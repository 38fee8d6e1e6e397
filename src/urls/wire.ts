import type { Fact, StatusEvent, Payload as StoredPayload } from './store.ts';
import { ENTRY_KINDS } from './stored-timeline.ts';
import { type EventKind, SHOWN_STATUS } from './timeline.ts';

export { SHOWN_STATUS };

// The JSON of this feature. Its keys are spelled in this file only: here, and in the templates below. The schemas, which
// commands without a server do not need to load, take them from here (`schemas.ts`).

/** The keys of a payload, in their order, by the names of the same values in the code. */
export const PAYLOAD = {
  ts: 'ts',
  mimeType: 'mime_type',
  fileType: 'file_type',
  fileExt: 'file_ext',
  fileSize: 'file_size',
  fileName: 'file_name',
  sha256: 'sha256_hash',
  family: 'malware-family',
} as const satisfies Record<keyof StoredPayload, string>;

/** The keys of a status and of an event. */
export const EVENT = { ts: 'ts', status: 'status', removal: 'removal', reporter: 'reporter' } as const;

/** The keys of a response about one URL; each response has some of them. */
export const URL_RESPONSE = {
  id: 'id',
  url: 'url',
  status: 'status',
  payload: 'payload',
  events: 'events',
  payloads: 'payloads',
} as const;

/** The maximum of events, and of payloads, in a history. */
export const HISTORY_LIMIT = 100;

/** The keys of a search record. */
export const SEARCH_RECORD = { ts: 'ts', id: 'id', url: 'url' } as const;

/** The records of a page of a search. */
export function factsIn(lines: string): Fact[] {
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

export function toWirePayload(payload: StoredPayload) {
  return {
    [PAYLOAD.ts]: payload.ts,
    [PAYLOAD.mimeType]: payload.mimeType,
    [PAYLOAD.fileType]: payload.fileType,
    [PAYLOAD.fileExt]: payload.fileExt,
    [PAYLOAD.fileSize]: payload.fileSize,
    [PAYLOAD.fileName]: payload.fileName,
    [PAYLOAD.sha256]: payload.sha256,
    [PAYLOAD.family]: payload.family,
  };
}

export function toWireEvent({ ts, kind, removal, reporter }: StatusEvent) {
  return { [EVENT.ts]: ts, [EVENT.status]: kind, [EVENT.removal]: removal, [EVENT.reporter]: reporter };
}

// JSON text. The stores compose response bodies here: converting rows to objects and objects to text takes longer than the
// query (docs/decisions/reads.md). Strings that repeat are passed as JSON, so that a store can cache them in that form.
// Constant parts are few and long: one more part in each of 200 records costs 5 µs.

/** Text that is valid JSON. */
export type Json = string;

export const NULL: Json = 'null';

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

/** The same without the payload. */
export function lastStatusJson(id: number, url: string, status: Json): Json {
  return `{"id":${id},"url":${toJson(url)},"status":${status}}`;
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

// The lines of a bulk response. `ref` is the JSON of what the client sent, null if nothing.

const bulkStart = (n: number, ref: Json | null): string => (ref === null ? `{"n":${n}` : `{"n":${n},"ref":${ref}`);

/** `last`: as `lastJson` or `lastStatusJson`; null: the URL is unknown. */
export const bulkLine = (n: number, ref: Json | null, last: Json | null): string =>
  last === null ? `${bulkStart(n, ref)},"found":false}\n` : `${bulkStart(n, ref)},"found":true,${last.slice(1)}\n`;

export const bulkFaultLine = (n: number, ref: Json | null, error: { code: number; message: string }): string =>
  `${bulkStart(n, ref)},"error":${JSON.stringify(error)}}\n`;

/** Counts of lines, and of distinct URLs. */
export type BulkTotals = { lines: number; distinct: number; found: number; invalid: number; charged: number };

/** Why a request was not handled to its end. `retry_after` is in seconds. */
export type BulkStop = { limit: string; retry_after?: number | undefined };

export const bulkEndLine = (totals: BulkTotals, stop: BulkStop | null): string =>
  `${JSON.stringify({ end: true, ...(stop && { stopped_at: totals.lines + 1, ...stop }), ...totals })}\n`;
