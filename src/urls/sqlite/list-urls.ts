import { cached } from '../../core/cached.ts';
import type { Database } from '../../database/sqlite/database.ts';
import {
  createUrlsForList,
  hostOf,
  IS_ONLINE,
  MAX_HOST_URLS,
  NO_TAGS,
  OTHER_PAYLOADS,
  PAYLOAD_JOIN,
  SEEN_COLUMN,
  statusOf,
} from '../list-rows.ts';
import { FIRST_HIDDEN_KIND, type ListedUrl, type UrlStore } from '../store.ts';

/** Ids of one statement: it takes at most 0.2 s, on a thread that answers no requests. */
const IDS_PER_READ = 20_000;

const LAST_ID = 'select max(id) from urls';

const DETAILS = 'p.file_id, (select group_concat(tag_id) from url_tags t where t.url_id = u.id)';

// The time when a URL was seen is computed for candidates only: it takes 0.8 µs for each, and most are too old for a list.
const rowsOf = (candidates: string, details = DETAILS) => `
  select u.id, u.event_kind, u.event_ts, ${SEEN_COLUMN}, u.event_reporter_id, p.family_id, u.url, (
    select group_concat(o.family_id) from ${OTHER_PAYLOADS}), ${details}
  from (${candidates}) c cross join urls u on u.id = c.id ${PAYLOAD_JOIN}`;

type Row = [
  id: number,
  kind: number,
  eventTs: number,
  seenTs: number,
  reporterId: number,
  familyId: number | null,
  url: string,
  otherFamilyIds: string | null,
  fileId: number | null,
  tagIds: string | null,
];

/** The newest event of a URL, or a later row, has the time. Rows are read in their order: a search for each URL takes more. */
const IS_SEEN = 'coalesce(confirmed_ts, ts) >= ?3';

const SEEN_URLS = `select distinct url_id as id from events where url_id > ?1 and url_id <= ?2 and ${IS_SEEN}`;

// By equality on the kinds, so that the index serves the range of ids too.
const ONLINE_URLS = `
  select u.id from urls u indexed by urls_online
  where ${IS_ONLINE} and u.event_kind in (0, 1) and u.id > ?1 and u.id <= ?2
    and exists (select 1 from events where url_id = u.id and ${IS_SEEN})`;

const ofIds = (details: string) => ({
  online: rowsOf(ONLINE_URLS, details),
  offline: `${rowsOf(SEEN_URLS, details)} where u.event_ts is not null and not ${IS_ONLINE}`,
  any: `${rowsOf(SEEN_URLS, details)} where u.event_ts is not null`,
});
const OF_IDS = ofIds(DETAILS);
const OF_IDS_BRIEF = ofIds('null, null');

const HOST_URLS = `
  select distinct url_id as id from (
    select e.url_id from events e join hosts h on h.id = e.host_id
    where h.host = ? and e.kind < ${FIRST_HIDDEN_KIND} limit ${MAX_HOST_URLS})`;

const OF_HOST = `${rowsOf(HOST_URLS)} where u.event_ts is not null`;

const FILE_KEYS = 'select id, lower(hex(file_key)) from files where id in (select value from json_each(?))';

/** In hexadecimal digits; the key of a file whose SHA-256 is unknown is shorter. */
const SHA256_DIGITS = 64;

export function createListUrls(db: Database): UrlStore['urlsForList'] {
  const lastId = db.prepare<[number | null]>(LAST_ID);
  const ofHost = db.prepare<Row>(OF_HOST);
  const prepareAll = ({ online, offline, any }: typeof OF_IDS) => {
    return { online: db.prepare<Row>(online), offline: db.prepare<Row>(offline), any: db.prepare<Row>(any) };
  };
  const whole = prepareAll(OF_IDS);
  const brief = prepareAll(OF_IDS_BRIEF);
  const sha256Of = createFileHashes(db);
  const reporters = createNames(db, 'reporters');
  const families = createNames(db, 'families');
  const tags = createNames(db, 'tags');

  /** Many URLs have the same tags, and share one array. Sorted here: the order of texts differs between databases. */
  const tagsOf = cached(MAX_KEPT, (tagIds: string) =>
    tagIds
      .split(',')
      .map((tagId) => tags(Number(tagId)))
      .sort(),
  );

  const familiesOf = cached(MAX_KEPT, (familyIds: string) =>
    [...new Set(familyIds.split(','))].map((familyId) => families(Number(familyId))).sort(),
  );

  function toListed(rows: readonly Row[], seenSinceTs: number): ListedUrl[] {
    const hashes = sha256Of(rows.map(([, , , , , , , , fileId]) => fileId));
    const urls: ListedUrl[] = [];
    for (const [i, [id, kind, sinceTs, seenTs, reporterId, familyId, url, otherIds, , tagIds]] of rows.entries()) {
      if (seenTs < seenSinceTs) continue;
      urls.push({
        id,
        url,
        host: hostOf(url),
        status: statusOf(kind),
        sinceTs,
        seenTs,
        reporter: reporters(reporterId),
        family: familyId === null ? null : families(familyId),
        sha256: hashes[i] ?? null,
        tags: tagIds === null ? NO_TAGS : tagsOf(tagIds),
        ...(otherIds !== null && { otherFamilies: familiesOf(otherIds) }),
      });
    }
    return urls;
  }

  return createUrlsForList(
    {
      lastId: () => lastId.get()?.[0] ?? 0,
      ofIds: ({ status, seenSinceTs, isBrief }, after, last) =>
        toListed((isBrief ? brief : whole)[status].all(after, last, seenSinceTs), seenSinceTs),
      ofHost: (host) => toListed(ofHost.all(host), 0),
    },
    IDS_PER_READ,
  );
}

/** Values in memory, of each kind. */
const MAX_KEPT = 50_000;

type FileHashes = (fileIds: readonly (number | null)[]) => (string | null)[];

/** SHA-256 by id of the file; null if unknown. Many URLs serve the same files: a join costs 1 µs for each URL. */
function createFileHashes(db: Database): FileHashes {
  const fileKeys = db.prepare<[id: number, key: string]>(FILE_KEYS);
  const kept = new Map<number, string | null>();
  return (fileIds) => {
    if (kept.size >= MAX_KEPT) kept.clear();
    const missing = new Set<number>();
    for (const id of fileIds) if (id !== null && !kept.has(id)) missing.add(id);
    for (const [id, key] of fileKeys.all(JSON.stringify([...missing]))) {
      kept.set(id, key.length === SHA256_DIGITS ? key : null);
    }
    return fileIds.map((id) => (id === null ? null : (kept.get(id) ?? null)));
  };
}

/** The names of ids, which never change: a join costs 0.5 µs for each URL. */
function createNames(db: Database, table: 'reporters' | 'families' | 'tags'): (id: number) => string {
  const find = db.prepare<[string]>(`select name from ${table} where id = ?`);
  return cached(MAX_KEPT, (id) => find.one(id)[0]);
}
