import type { Database } from '../../database/sqlite/database.ts';
import {
  createUrlsForList,
  hostOf,
  IS_ONLINE,
  MAX_HOST_URLS,
  NO_TAGS,
  PAYLOAD_FILE_JOINS,
  SEEN_COLUMN,
  SEPARATOR,
  statusOf,
} from '../list-rows.ts';
import type { ListedUrl, UrlStore } from '../store.ts';
import { FIRST_HIDDEN_KIND } from '../stored-timeline.ts';

/** Ids of one statement: it takes at most 0.2 s, on a thread that answers no requests. */
const IDS_PER_READ = 20_000;

const LAST_ID = 'select max(id) from urls';

// One text, because each column costs time: a text 0.5 µs, a blob 1.4 µs.
const TEXTS = `
  u.url || char(31) || coalesce(lower(hex(files.file_key)), '') || char(31) ||
  coalesce((select group_concat(tag_id) from url_tags t where t.url_id = u.id), '')`;

// The time is computed once for each URL, before anything else is read: most URLs are too old for a list.
const rowsOf = (candidates: string) => `
  with c (id, seen_ts) as materialized (select u.id, ${SEEN_COLUMN} from ${candidates})
  select u.id, u.event_kind, u.event_ts, c.seen_ts, u.event_reporter_id, p.family_id, ${TEXTS}
  from c join urls u on u.id = c.id ${PAYLOAD_FILE_JOINS} where c.seen_ts >= ?`;

type Row = [
  id: number,
  kind: number,
  eventTs: number,
  seenTs: number,
  reporterId: number,
  familyId: number | null,
  texts: string,
];

// By equality on the kinds, so that the index serves the range of ids too.
const OF_IDS = {
  online: rowsOf(`
    urls u indexed by urls_online
    where ${IS_ONLINE} and u.event_kind in (0, 1) and u.id > ? and u.id <= ?`),
  offline: rowsOf(`urls u where u.id > ? and u.id <= ? and u.event_ts is not null and not ${IS_ONLINE}`),
  any: rowsOf('urls u where u.id > ? and u.id <= ? and u.event_ts is not null'),
};

const OF_HOST = rowsOf(`
  urls u where u.event_ts is not null and u.id in (
    select e.url_id from events e join hosts h on h.id = e.host_id
    where h.host = ? and e.kind < ${FIRST_HIDDEN_KIND} limit ${MAX_HOST_URLS})`);

/** In hexadecimal digits; the key of a file whose SHA-256 is unknown is shorter. */
const SHA256_DIGITS = 64;

export function createListUrls(db: Database): UrlStore['urlsForList'] {
  const lastId = db.prepare<[number | null]>(LAST_ID);
  const ofHost = db.prepare<Row>(OF_HOST);
  const ofIds = {
    online: db.prepare<Row>(OF_IDS.online),
    offline: db.prepare<Row>(OF_IDS.offline),
    any: db.prepare<Row>(OF_IDS.any),
  };
  const reporters = createNames(db, 'reporters');
  const families = createNames(db, 'families');
  const tags = createNames(db, 'tags');

  /** Many URLs have the same tags, and share one array. */
  // Sorted here: the order of texts differs between databases.
  const tagsOf = createKept((tagIds: string) =>
    tagIds
      .split(',')
      .map((tagId) => tags(Number(tagId)))
      .sort(),
  );

  function toListed([id, kind, sinceTs, seenTs, reporterId, familyId, texts]: Row): ListedUrl {
    const afterUrl = texts.indexOf(SEPARATOR);
    const afterKey = texts.indexOf(SEPARATOR, afterUrl + 1);
    const url = texts.slice(0, afterUrl);
    return {
      id,
      url,
      host: hostOf(url),
      status: statusOf(kind),
      sinceTs,
      seenTs,
      reporter: reporters(reporterId),
      family: familyId === null ? null : families(familyId),
      sha256: afterKey - afterUrl - 1 === SHA256_DIGITS ? texts.slice(afterUrl + 1, afterKey) : null,
      tags: afterKey + 1 === texts.length ? NO_TAGS : tagsOf(texts.slice(afterKey + 1)),
    };
  }

  return createUrlsForList(
    {
      lastId: () => lastId.get()?.[0] ?? 0,
      ofIds: ({ status, seenSinceTs }, after, last) => ofIds[status].all(after, last, seenSinceTs).map(toListed),
      ofHost: (host) => ofHost.all(host, 0).map(toListed),
    },
    IDS_PER_READ,
  );
}

/** Values in memory, of each kind. A full map is cleared. */
const MAX_KEPT = 50_000;

function createKept<Key, Value>(find: (key: Key) => Value): (key: Key) => Value {
  const kept = new Map<Key, Value>();
  return (key) => {
    let value = kept.get(key);
    if (value === undefined) {
      value = find(key);
      if (kept.size >= MAX_KEPT) kept.clear();
      kept.set(key, value);
    }
    return value;
  };
}

/** The names of ids, which never change: a join costs 0.5 µs for each URL. */
function createNames(db: Database, table: 'reporters' | 'families' | 'tags'): (id: number) => string {
  const find = db.prepare<[string]>(`select name from ${table} where id = ?`);
  return createKept((id) => find.one(id)[0]);
}
