import type { EventKind, Payload, StatusEvent, UrlLast } from '../core/records.ts';
import { ENTRY_KINDS } from './entry-kind.ts';
import { sha256OfKey } from './file-key.ts';

// The columns in which every engine gives what is known of a URL, and how they become records.

export type EventRow = [ts: number, kind: number, removal: string, reporter: string];

export type PayloadRow = [
  ts: number,
  fileId: number,
  fileKey: Uint8Array,
  mimeType: string | null,
  fileType: string | null,
  fileExt: string | null,
  fileSize: number | null,
  fileName: string | null,
  family: string | null,
];

type Nullable<Row extends unknown[]> = { [Column in keyof Row]: Row[Column] | null };
export type LastRow = [id: number, url: string, ...Nullable<EventRow>, ...Nullable<PayloadRow>];

export const EVENT_COLUMNS = 'e.ts, e.kind, removals.reason, reporters.name';
export const EVENT_JOINS = `
  join removals on removals.id = e.removal_id
  join reporters on reporters.id = e.reporter_id`;

// What an observation told of a file itself wins over what is known of the file.
export const PAYLOAD_COLUMNS = `
  p.ts, p.file_id, files.file_key,
  coalesce(p.mime_type, files.mime_type), coalesce(p.file_type, files.file_type),
  coalesce(p.file_ext, files.file_ext), coalesce(p.file_size, files.file_size),
  coalesce(p.file_name, files.file_name), families.name`;
export const PAYLOAD_JOINS = `
  join files on files.id = p.file_id
  left join families on families.id = p.family_id`;

export const LAST_COLUMNS = `
  u.id, u.url, u.event_ts, u.event_kind, removals.reason, reporters.name, ${PAYLOAD_COLUMNS}`;
export const LAST_JOINS = `
  left join removals on removals.id = u.event_removal_id
  left join reporters on reporters.id = u.event_reporter_id
  left join payloads p on p.url_id = u.id and p.ts = u.payload_ts and p.file_id = u.payload_file_id
  left join files on files.id = p.file_id
  left join families on families.id = p.family_id`;

/** Newest first; at equal times the greater key first, whichever came first. */
export function byTimeAndKey([ts, , key]: PayloadRow, [otherTs, , otherKey]: PayloadRow): number {
  return otherTs - ts || Buffer.compare(otherKey, key);
}

export function toEvent([ts, kind, removal, reporter]: EventRow): StatusEvent {
  return { ts, kind: ENTRY_KINDS[kind] as EventKind, removal, reporter };
}

export function toPayload(row: PayloadRow): Payload {
  const [ts, , key, mimeType, fileType, fileExt, fileSize, fileName, family] = row;
  return { ts, sha256: sha256OfKey(key), mimeType, fileType, fileExt, fileSize, fileName, family };
}

export function toLast([id, url, ts, kind, removal, reporter, ...payload]: LastRow): UrlLast {
  return {
    id,
    url,
    event: ts === null ? null : toEvent([ts, kind, removal, reporter] as EventRow),
    payload: payload[0] === null ? null : toPayload(payload as PayloadRow),
  };
}
