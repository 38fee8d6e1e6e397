import type { EventKind, Payload, StatusEvent, UrlHistory, UrlLast } from '../../core/records.ts';
import { ENTRY_KINDS, FIRST_HIDDEN_KIND } from '../entry-kind.ts';
import { sha256OfKey } from '../file-key.ts';
import { urlKey } from '../url-key.ts';
import type { Database } from './database.ts';

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

const ID = 'select id from urls where url_key = ?';

export const LAST_COLUMNS = `
  u.id, u.url, u.event_ts, u.event_kind, removals.reason, reporters.name, ${PAYLOAD_COLUMNS}`;
export const LAST_JOINS = `
  left join removals on removals.id = u.event_removal_id
  left join reporters on reporters.id = u.event_reporter_id
  left join payloads p on p.url_id = u.id and p.ts = u.payload_ts and p.file_id = u.payload_file_id
  left join files on files.id = p.file_id
  left join families on families.id = p.family_id`;

const LAST = `select ${LAST_COLUMNS} from urls u ${LAST_JOINS} where u.url_key = ?`;

const NEWEST_EVENTS = `
  select ${EVENT_COLUMNS} from events e ${EVENT_JOINS}
  where e.url_id = ? and e.kind < ${FIRST_HIDDEN_KIND} order by e.ts desc, e.kind desc limit ?`;

const NEWEST_PAYLOADS = `
  select ${PAYLOAD_COLUMNS} from payloads p ${PAYLOAD_JOINS}
  where p.url_id = ? order by p.ts desc, p.file_id desc limit ?`;

// At most so many of one time are put in order: more files from one URL in one second come in any order.
const PAYLOADS_OF_TIME = `
  select ${PAYLOAD_COLUMNS} from payloads p ${PAYLOAD_JOINS} where p.url_id = ? and p.ts = ? limit 1000`;

const HAS = 'select 1 from urls where id = ?';

/** The reads that answer about one URL. */
export function createReadUrl(db: Database) {
  const id = db.prepare<[number]>(ID);
  const last = db.prepare<LastRow>(LAST);
  const newestEvents = db.prepare<EventRow>(NEWEST_EVENTS);
  const newestPayloads = db.prepare<PayloadRow>(NEWEST_PAYLOADS);
  const payloadsOfTime = db.prepare<PayloadRow>(PAYLOADS_OF_TIME);
  const has = db.prepare<[1]>(HAS);

  /** At equal times the greater key first, as in `urlLast`, whichever came first. */
  function payloadsOf(urlId: number, limit: number): PayloadRow[] {
    const rows = newestPayloads.all(urlId, limit);
    const oldest = rows.length < limit ? undefined : rows.at(-1)?.[0];
    if (oldest === undefined) return rows.sort(byTimeAndKey);
    const newer = rows.filter(([ts]) => ts > oldest);
    return [...newer, ...payloadsOfTime.all(urlId, oldest)].sort(byTimeAndKey).slice(0, limit);
  }

  return {
    async urlId(url: string): Promise<number | null> {
      return id.get(urlKey(url))?.[0] ?? null;
    },

    async urlLast(url: string): Promise<UrlLast | null> {
      const row = last.get(urlKey(url));
      return row === undefined ? null : toLast(row);
    },

    async urlHistory(url: string, limit: number): Promise<UrlHistory | null> {
      const urlId = id.get(urlKey(url))?.[0];
      if (urlId === undefined) return null;
      return {
        id: urlId,
        url,
        events: newestEvents.all(urlId, limit).map(toEvent),
        payloads: payloadsOf(urlId, limit).map(toPayload),
      };
    },

    async hasUrl(urlId: number): Promise<boolean> {
      return has.get(urlId) !== undefined;
    },
  };
}

function byTimeAndKey([ts, , key]: PayloadRow, [otherTs, , otherKey]: PayloadRow): number {
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
