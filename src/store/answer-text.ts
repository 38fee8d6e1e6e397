import { type EventKind, type FileDetails, STATUS_OF } from '../core/records.ts';
import { ENTRY_KINDS } from './entry-kind.ts';

// How the answers about one URL read on the wire (`contract/url.ts`), for every engine; why as text: `Store.urlLast`.
// Names come in as JSON already, so that an engine can remember them so, and constant parts are as few and as long as
// possible: one piece more in each of 200 records costs 5 µs.

/** JSON that stands in an answer as it is. */
export type Json = string;

export const NULL: Json = 'null';

/**
 * For a text that is kept: the runtime holds what is put together as a tree of its parts, and would walk it with every
 * answer.
 */
export const inOnePiece = (text: string): string => Buffer.from(text).toString();

export function jsonOf(value: string | null): Json {
  return value === null ? NULL : JSON.stringify(value);
}

const statusMember = (status: string) => `,"status":${jsonOf(status)},"removal":`;
/** By the number of the kind in the tables; the kinds that are not shown have none. */
const SHOWN_KINDS = ENTRY_KINDS.filter((kind): kind is EventKind => kind in STATUS_OF);
const EVENT_STATUSES = SHOWN_KINDS.map((kind) => statusMember(kind));
const LAST_STATUSES = SHOWN_KINDS.map((kind) => statusMember(STATUS_OF[kind]));

/** All that stands in an event behind its time. */
export type EventTail = string;

export function eventTail(kind: number, removal: Json, reporter: Json): EventTail {
  return `${EVENT_STATUSES[kind]}${removal},"reporter":${reporter}}`;
}

/** What a URL is since its newest event. */
export function statusText(ts: number, kind: number, removal: Json, reporter: Json): Json {
  return `{"ts":${ts}${LAST_STATUSES[kind]}${removal},"reporter":${reporter}}`;
}

/** What a payload tells of its file. */
export type ToldFile = Omit<FileDetails, 'family'> & { sha256: string | null };

/** All that stands in a payload behind its time. */
export type PayloadTail = string;

export function payloadTail(file: ToldFile, family: Json): PayloadTail {
  const { mimeType, fileType, fileExt, fileSize, fileName, sha256 } = file;
  const type = `,"mime_type":${jsonOf(mimeType)},"file_type":${jsonOf(fileType)},"file_ext":${jsonOf(fileExt)}`;
  const name = `,"file_size":${fileSize},"file_name":${jsonOf(fileName)}`;
  return `${type}${name},"sha256_hash":${jsonOf(sha256)},"malware-family":${family}}`;
}

/** A change in the life of a URL, or a file that it served. */
export const recordText = (ts: number, tail: EventTail | PayloadTail): Json => `{"ts":${ts}${tail}`;

/** A list of such without its end; begins as an empty text. */
export type OpenList = string;

export const addRecord = (list: OpenList, ts: number, tail: EventTail | PayloadTail): OpenList =>
  list === '' ? `[{"ts":${ts}${tail}` : `${list},{"ts":${ts}${tail}`;

const ended = (list: OpenList): Json => (list === '' ? '[]' : `${list}]`);

export function lastText(id: number, url: string, status: Json, payload: Json): Json {
  return `{"id":${id},"url":${jsonOf(url)},"status":${status},"payload":${payload}}`;
}

export function historyText(id: number, url: string, events: OpenList, payloads: OpenList): Json {
  return `{"id":${id},"url":${jsonOf(url)},"events":${ended(events)},"payloads":${ended(payloads)}}`;
}
