import { formatIp } from '../core/ip/address.ts';
import { foldFamily } from '../core/text.ts';
import { pageOf, readPages } from '../database/pages.ts';
import { comparePayloads, sha256OfKey } from './file-rules.ts';
import {
  type ExportedUrl,
  type ExportFilter,
  FIRST_HIDDEN_KIND,
  type Payload,
  type StatusEvent,
  type UrlLast,
  type UrlStore,
} from './store.ts';
import { ENTRY_KINDS } from './stored-timeline.ts';
import { type EventKind, SHOWN_STATUS } from './timeline.ts';

// The columns of events and payloads, the same on every engine, and their conversion to records.

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

export type Nullable<Row extends unknown[]> = { [Column in keyof Row]: Row[Column] | null };
export type StatusRow = [id: number, url: string, ...Nullable<EventRow>];
export type LastRow = [...StatusRow, ...Nullable<PayloadRow>];

export const EVENT_COLUMNS = 'e.ts, e.kind, removals.reason, reporters.name';
export const EVENT_JOINS = `
  join removals on removals.id = e.removal_id
  join reporters on reporters.id = e.reporter_id`;

// The details given in an observation win over the details of the file.
export const PAYLOAD_COLUMNS = `
  p.ts, p.file_id, files.file_key,
  coalesce(p.mime_type, files.mime_type), coalesce(p.file_type, files.file_type),
  coalesce(p.file_ext, files.file_ext), coalesce(p.file_size, files.file_size),
  coalesce(p.file_name, files.file_name), families.name`;
export const PAYLOAD_JOINS = `
  join files on files.id = p.file_id
  left join families on families.id = p.family_id`;

export const STATUS_COLUMNS = 'u.id, u.url, u.event_ts, u.event_kind, removals.reason, reporters.name';
export const STATUS_JOINS = `
  left join removals on removals.id = u.event_removal_id
  left join reporters on reporters.id = u.event_reporter_id`;

export const LAST_COLUMNS = `${STATUS_COLUMNS}, ${PAYLOAD_COLUMNS}`;
export const LAST_JOINS = `${STATUS_JOINS}
  left join payloads p on p.url_id = u.id and p.ts = u.payload_ts and p.file_id = u.payload_file_id
  left join files on files.id = p.file_id
  left join families on families.id = p.family_id`;

/** Oldest first. */
export function comparePayloadRows([ts, , key]: PayloadRow, [otherTs, , otherKey]: PayloadRow): number {
  return comparePayloads({ ts, key }, { ts: otherTs, key: otherKey });
}

function toEvent([ts, kind, removal, reporter]: EventRow): StatusEvent {
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

export type ExportedRow = [key: Uint8Array, host: string, ...LastRow];

/** `tags` are sorted here: the order of texts differs between databases. */
export function toExported([, host, ...last]: ExportedRow, tags: string[]): ExportedUrl {
  return { ...toLast(last), host, tags: tags.sort(), details: null };
}

export type DetailedRow = [confirmedTs: number | null, ip: Uint8Array | null, asn: number | null, ...ExportedRow];

/** The entries after the newest event are confirmations of its status. An implied offline has no sighting of its own. */
export const CONFIRMED_COLUMN = `
  (select max(confirmed_ts) from events where url_id = u.id and (ts, kind) >= (u.event_ts, u.event_kind))`;

export function toDetailed([confirmedTs, ip, asn, ...row]: DetailedRow, tags: string[]): ExportedUrl {
  return {
    ...toExported(row, tags),
    details: { confirmedTs, address: ip === null ? null : { ip: formatIp(ip), asn } },
  };
}

export function matchesFilter({ event, payload, tags }: ExportedUrl, { since, status, tag }: ExportFilter): boolean {
  const newest = Math.max(event?.ts ?? 0, payload?.ts ?? 0);
  if (since !== undefined && newest < since) return false;
  if (tag !== undefined && !tags.some((one) => foldFamily(one) === foldFamily(tag))) return false;
  return status === undefined || (event !== null && SHOWN_STATUS[event.kind] === status);
}

/** Families that are read to recognize tags; Malpedia, the largest public catalogue, has some thousands. */
export const MAX_FAMILY_NAMES = 50_000;

export type EntryKey = [ts: number, kind: number];
export type PayloadKey = [ts: number, fileId: number];

/** The reads of an engine for one URL: pages of `PAGE_ROWS`, newest first, hidden entries included. */
type StreamReads = {
  statuses(id: number, since: number, before: EntryKey, signal: AbortSignal): EventRow[] | Promise<EventRow[]>;
  payloads(id: number, before: PayloadKey, signal: AbortSignal): PayloadRow[] | Promise<PayloadRow[]>;
};

/** The newest records of one URL, page by page. */
export function createUrlStreams(reads: StreamReads): Pick<UrlStore, 'statuses' | 'payloads'> {
  return {
    statuses(id, { since, until }, bounds) {
      return readPages<StatusEvent, EntryKey>([until + 1, 0], bounds, async (key) => {
        const rows = await reads.statuses(id, since, key, bounds.signal);
        const page = pageOf(rows, toEvent, ([ts, kind]): EntryKey => [ts, kind]);
        return { ...page, items: page.items.filter((_, i) => (rows[i]?.[1] ?? 0) < FIRST_HIDDEN_KIND) };
      });
    },

    payloads(id, bounds) {
      return readPages<Payload, PayloadKey>([Number.MAX_SAFE_INTEGER, 0], bounds, async (key) =>
        pageOf(await reads.payloads(id, key, bounds.signal), toPayload, ([ts, fileId]): PayloadKey => [ts, fileId]),
      );
    },
  };
}
