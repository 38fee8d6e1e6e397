import { type EventKind, type FileDetails, STATUS_OF } from '../core/records.ts';
import { ENTRY_KINDS } from './entry-kind.ts';
import type { Details } from './known-file.ts';

// How the answers about one URL read on the wire (`contract/url.ts`), for every engine; why as text: `Store.urlLast`.
// Names come in as JSON already, so that an engine can remember them so, and constant parts are as few and as long as
// possible: one piece more in each of 200 records costs 5 µs.

/** JSON that stands in an answer as it is. */
export type Json = string;

export const NULL: Json = 'null';

export function jsonOf(value: string | null): Json {
  return value === null ? NULL : JSON.stringify(value);
}

const statusMember = (status: string) => `,"status":${jsonOf(status)},"removal":`;
/** By the number of the kind in the tables; the kinds that are not shown have none. */
const SHOWN_KINDS = ENTRY_KINDS.filter((kind): kind is EventKind => kind in STATUS_OF);
const EVENT_STATUSES = SHOWN_KINDS.map((kind) => statusMember(kind));
const LAST_STATUSES = SHOWN_KINDS.map((kind) => statusMember(STATUS_OF[kind]));

/** A change in the life of a URL. */
export function eventText(ts: number, kind: number, removal: Json, reporter: Json): Json {
  return `{"ts":${ts}${EVENT_STATUSES[kind]}${removal},"reporter":${reporter}}`;
}

/** What a URL is since its newest event. */
export function statusText(ts: number, kind: number, removal: Json, reporter: Json): Json {
  return `{"ts":${ts}${LAST_STATUSES[kind]}${removal},"reporter":${reporter}}`;
}

/** What a payload tells of its file. */
export type ToldFile = Omit<FileDetails, 'family'> & { sha256: string | null };

/** All that stands in a payload between its time and its family. */
export type FileText = string;

export function fileText({ mimeType, fileType, fileExt, fileSize, fileName, sha256 }: ToldFile): FileText {
  const type = `,"mime_type":${jsonOf(mimeType)},"file_type":${jsonOf(fileType)},"file_ext":${jsonOf(fileExt)}`;
  const name = `,"file_size":${fileSize},"file_name":${jsonOf(fileName)}`;
  return `${type}${name},"sha256_hash":${jsonOf(sha256)},"malware-family":`;
}

/** The same for a payload with details of its own, which win over what is known of the file. */
export function ownFileText(file: FileText, [mimeType, fileType, fileExt, fileSize, fileName]: Details): FileText {
  const told = JSON.parse(payloadText(0, file, NULL));
  return fileText({
    mimeType: mimeType ?? told.mime_type,
    fileType: fileType ?? told.file_type,
    fileExt: fileExt ?? told.file_ext,
    fileSize: fileSize ?? told.file_size,
    fileName: fileName ?? told.file_name,
    sha256: told.sha256_hash,
  });
}

/** A file that a URL served. */
export function payloadText(ts: number, file: FileText, family: Json): Json {
  return `{"ts":${ts}${file}${family}}`;
}

export function lastText(id: number, url: string, rest: LastRest): Json {
  return `{"id":${id},"url":${jsonOf(url)}${rest}`;
}

/** All that stands in `last` behind id and URL: what an engine may keep ready. */
export type LastRest = string;

export const lastRest = (status: Json, payload: Json): LastRest => `,"status":${status},"payload":${payload}}`;

/** Events and payloads with commas between them. */
export function historyText(id: number, url: string, events: string, payloads: string): Json {
  return `{"id":${id},"url":${jsonOf(url)},"events":[${events}],"payloads":[${payloads}]}`;
}
