import type { CheckedTable, RowKey } from './store.ts';

// What a check reads, the same on every engine except for `urls`. The columns of a row begin with its primary key. One
// statement reads a whole page, so that its rows are of one state also on PostgreSQL. `after` is a list of placeholders.
// `(select 1 … limit 1) = 1` instead of `exists`, for which PostgreSQL may read the whole table into a hash first.

/** The newest event, or its copy in `urls`. */
export type EventColumns = [ts: number, kind: number, removalId: number, reporterId: number];

export type UrlRow = [
  id: number,
  key: Uint8Array,
  url: string,
  host: string | null,
  eventTs: number | null,
  eventKind: number | null,
  eventRemovalId: number | null,
  eventReporterId: number | null,
  payloadTs: number | null,
  payloadFileId: number | null,
  /** Null if the last payload does not exist. */
  foundPayloadTs: number | null,
  /** The key of the file of the last payload; null if the file does not exist. */
  fileKey: Uint8Array | null,
  hostId: number,
  /** Of the host. */
  domainId: number | null,
  /** The row in `url_sightings`; null if it does not exist. */
  sightingDomainId: number | null,
  sightingHostId: number | null,
  sightingTs: number | null,
  /** Not null while `urlwarden domain rebuild` is unfinished. */
  rebuildId: number | null,
];

export const URL_COLUMNS = `
  u.id, u.url_key, u.url, hosts.host, u.event_ts, u.event_kind, u.event_removal_id, u.event_reporter_id,
  u.payload_ts, u.payload_file_id, p.ts, files.file_key,
  u.host_id, hosts.domain_id, s.domain_id, s.host_id, s.online_ts,
  (select r.id from domain_rebuild r where r.id = 1)`;
export const URL_COLUMN_COUNT = 18;
export const URL_JOINS = `
  left join hosts on hosts.id = u.host_id
  left join payloads p on p.url_id = u.id and p.ts = u.payload_ts and p.file_id = u.payload_file_id
  left join files on files.id = p.file_id
  left join url_sightings s on s.url_id = u.id`;

/** A payload of the newest second of a URL; the key is null if the file does not exist. */
export type PayloadOfTime = [ts: number, fileId: number, key: Uint8Array | null];

/** 1 or 0, also on PostgreSQL. */
type Flag = 0 | 1;

export type EventRow = [
  urlId: number,
  ts: number,
  kind: number,
  hostId: number,
  removalId: number,
  reporterId: number,
  confirmedTs: number | null,
  /** The host of the URL; null if there is no such URL. */
  urlHostId: number | null,
  foundRemovalId: number | null,
  foundReporterId: number | null,
  /** For an implied offline: whether the rows of `listed` imply it. Otherwise null. */
  isImplied: Flag | null,
];

const EVENTS = (after: string, rows: number) => `
  select e.url_id, e.ts, e.kind, e.host_id, e.removal_id, e.reporter_id, e.confirmed_ts,
    urls.host_id, removals.id, reporters.id,
    case
      when e.confirmed_ts is not null or e.kind = 0 then null
      when (select 1 from listed l
        where l.url_id = e.url_id and (l.missed_ts is null or l.missed_ts > e.ts) limit 1) = 1 then 0
      when (select l.missed_ts from listed l where l.url_id = e.url_id and l.feed_id = e.reporter_id) = e.ts then 1
      else 0 end
  from (select * from events where (url_id, ts, kind) > (${after}) order by url_id, ts, kind limit ${rows}) e
  left join urls on urls.id = e.url_id
  left join removals on removals.id = e.removal_id
  left join reporters on reporters.id = e.reporter_id
  order by e.url_id, e.ts, e.kind`;

export type PayloadRow = [
  urlId: number,
  ts: number,
  fileId: number,
  familyId: number | null,
  foundUrlId: number | null,
  foundFileId: number | null,
  fileFamilyId: number | null,
  foundFamilyId: number | null,
  /** Not null while the family of the file is being copied to its payloads. */
  spreadFileId: number | null,
];

const PAYLOADS = (after: string, rows: number) => `
  select p.url_id, p.ts, p.file_id, p.family_id, urls.id, files.id, files.family_id, families.id,
    (select s.file_id from family_spreads s where s.file_id = p.file_id)
  from (select * from payloads where (url_id, ts, file_id) > (${after}) order by url_id, ts, file_id limit ${rows}) p
  left join urls on urls.id = p.url_id
  left join files on files.id = p.file_id
  left join families on families.id = p.family_id
  order by p.url_id, p.ts, p.file_id`;

export type ResolutionRow = [
  urlId: number,
  ip: Uint8Array,
  day: number,
  ts: number,
  bucket: number,
  foundUrlId: number | null,
];

const RESOLUTIONS = (after: string, rows: number) => `
  select r.url_id, r.ip, r.day, r.ts, r.bucket, urls.id
  from (select * from resolutions where (url_id, ip, day) > (${after}) order by url_id, ip, day limit ${rows}) r
  left join urls on urls.id = r.url_id
  order by r.url_id, r.ip, r.day`;

export type ListedRow = [
  urlId: number,
  feedId: number,
  foundUrlId: number | null,
  foundFeedId: number | null,
  /** Whether `missed_ts` is the first complete listing after `ts`, or a listing of the feed is still being stored. */
  isMissedRight: Flag,
  /** Whether some feed lists the URL, or the offline that follows is stored. */
  isOfflineStored: Flag,
];

const LISTED = (after: string, rows: number) => `
  select l.url_id, l.feed_id, urls.id, reporters.id,
    case
      when coalesce(l.missed_ts, -1) = coalesce(
        (select min(s.ts) from listings s where s.feed_id = l.feed_id and s.ts > l.ts), -1) then 1
      when (select 1 from listings s where s.feed_id = l.feed_id and s.is_pending = 1 limit 1) = 1 then 1
      else 0 end,
    case
      when (select 1 from listed o where o.url_id = l.url_id and o.missed_ts is null limit 1) = 1 then 1
      when (select 1 from events e
        where e.url_id = l.url_id and e.ts = (select max(o.missed_ts) from listed o where o.url_id = l.url_id)
          and e.kind > 0 and e.confirmed_ts is null limit 1) = 1 then 1
      else 0 end
  from (select * from listed where (url_id, feed_id) > (${after}) order by url_id, feed_id limit ${rows}) l
  left join urls on urls.id = l.url_id
  left join reporters on reporters.id = l.feed_id
  order by l.url_id, l.feed_id`;

export type FileRow = [id: number, key: Uint8Array, familyId: number | null, foundFamilyId: number | null];

const FILES = (after: string, rows: number) => `
  select f.id, f.file_key, f.family_id, families.id from files f left join families on families.id = f.family_id
  where f.id > ${after} order by f.id limit ${rows}`;

export type FamilyRow = [id: number, name: string, folded: string];

const FAMILIES = (after: string, rows: number) => `
  select id, name, folded from families where id > ${after} order by id limit ${rows}`;

export type TagRow = FamilyRow;

const TAGS = (after: string, rows: number) => `
  select id, name, folded from tags where id > ${after} order by id limit ${rows}`;

export type UrlTagRow = [urlId: number, tagId: number, foundUrlId: number | null, foundTagId: number | null];

const URL_TAGS = (after: string, rows: number) => `
  select t.url_id, t.tag_id, urls.id, tags.id
  from (select * from url_tags where (url_id, tag_id) > (${after}) order by url_id, tag_id limit ${rows}) t
  left join urls on urls.id = t.url_id
  left join tags on tags.id = t.tag_id
  order by t.url_id, t.tag_id`;

export type TableRows = {
  events: EventRow;
  payloads: PayloadRow;
  resolutions: ResolutionRow;
  listed: ListedRow;
  files: FileRow;
  families: FamilyRow;
  tags: TagRow;
  url_tags: UrlTagRow;
};

/** The statements of all tables except `urls`. */
export const PAGES: { [Table in keyof TableRows]: (after: string, rows: number) => string } = {
  events: EVENTS,
  payloads: PAYLOADS,
  resolutions: RESOLUTIONS,
  listed: LISTED,
  files: FILES,
  families: FAMILIES,
  tags: TAGS,
  url_tags: URL_TAGS,
};

/** The greatest value of the first column of the primary key. */
export const LAST_ID: Record<CheckedTable, string> = {
  families: 'select max(id) from families',
  files: 'select max(id) from files',
  urls: 'select max(id) from urls',
  events: 'select max(url_id) from events',
  payloads: 'select max(url_id) from payloads',
  resolutions: 'select max(url_id) from resolutions',
  listed: 'select max(url_id) from listed',
  tags: 'select max(id) from tags',
  url_tags: 'select max(url_id) from url_tags',
};

const MAX_SMALLINT = 2 ** 15 - 1;
const MAX_INTEGER = 2 ** 31 - 1;
/** After every address, which has 16 bytes. */
const AFTER_ADDRESSES = Buffer.alloc(17, 0xff);

/** Greater than the rest of the primary key of every row, in the types of PostgreSQL. */
const REST_OF_KEY: Record<CheckedTable, RowKey> = {
  families: [],
  files: [],
  urls: [],
  events: [Number.MAX_SAFE_INTEGER, MAX_SMALLINT],
  payloads: [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  resolutions: [AFTER_ADDRESSES, MAX_INTEGER],
  listed: [Number.MAX_SAFE_INTEGER],
  tags: [],
  url_tags: [Number.MAX_SAFE_INTEGER],
};

/** The place after all rows of this id. */
export function afterId(table: CheckedTable, id: number): RowKey {
  return [id, ...REST_OF_KEY[table]];
}

export function keyOf(table: CheckedTable, row: readonly unknown[]): RowKey {
  return row.slice(0, 1 + REST_OF_KEY[table].length) as (number | Uint8Array)[];
}
