import type { Database, Reader } from '../../database/sqlite/database.ts';
import { comparePayloads, MAX_TIES } from '../file-rules.ts';
import { FIRST_HIDDEN_KIND, type UrlStore } from '../store.ts';
import { urlKey, urlKeyHex } from '../url-group.ts';
import {
  addRecord,
  historyJson,
  type Json,
  lastJson,
  lastStatusJson,
  NULL,
  type OpenArray,
  payloadTail,
  recordJson,
  statusJson,
} from '../wire.ts';
import { createEventCache, createFileCache, createTextCache } from './json-cache.ts';
import type { KnownUrls } from './known-urls.ts';

const URL_ID = 'select id from urls where url_key = ?';

const HAS = 'select 1 from urls where id = ?';

/** Lookups by URL. Without `known` unknown URLs are looked for in the database too. */
export function createLookup(
  db: Reader,
  known: KnownUrls | null,
): Pick<UrlStore, 'urlId' | 'urlLast' | 'lastOfMany' | 'urlHistory' | 'hasUrl'> {
  const id = db.prepare<[number]>(URL_ID);
  const has = db.prepare<[1]>(HAS);

  return {
    urlId: (url) => id.get(urlKey(url))?.[0] ?? null,
    urlLast: createReadLast(db),
    lastOfMany: createReadMany(db, known),
    urlHistory: createReadHistory(db),
    hasUrl: async (urlId) => has.get(urlId) !== undefined,
  };
}

// Only numbers and strings, and only those in the response: a third of the time of a lookup is spent on joins for names
// and on values for JavaScript, of which bytes cost most (docs/decisions/reads.md). The key of a file without a SHA-256 is
// shorter than 32 bytes.
const LAST = `
  select u.id, u.event_ts, u.event_kind, u.event_removal_id, u.event_reporter_id,
    p.ts, case when length(files.file_key) = 32 then lower(hex(files.file_key)) end,
    coalesce(p.mime_type, files.mime_type), coalesce(p.file_type, files.file_type),
    coalesce(p.file_ext, files.file_ext), coalesce(p.file_size, files.file_size),
    coalesce(p.file_name, files.file_name), p.family_id
  from urls u
  left join payloads p on p.url_id = u.id and p.ts = u.payload_ts and p.file_id = u.payload_file_id
  left join files on files.id = p.file_id
  where u.url_key = ?`;

/** Without an event all of its columns are null; the same holds for the payload. */
type LastRow = [
  id: number,
  eventTs: number | null,
  kind: number,
  removalId: number,
  reporterId: number,
  payloadTs: number | null,
  sha256: string | null,
  mimeType: string | null,
  fileType: string | null,
  fileExt: string | null,
  fileSize: number | null,
  fileName: string | null,
  familyId: number | null,
];

/** The hot path: the last status and the last payload of a URL. */
function createReadLast(db: Database): (url: string) => Json | null {
  const last = db.prepare<LastRow>(LAST);
  const statusOf = createStatusOf(db);
  const families = createTextCache(db, 'families', 'name');

  const payloadOf = (row: LastRow): Json => {
    const [, , , , , ts, sha256, mimeType, fileType, fileExt, fileSize, fileName, familyId] = row;
    if (ts === null) return NULL;
    const file = { mimeType, fileType, fileExt, fileSize, fileName, sha256 };
    return recordJson(ts, payloadTail(file, familyId === null ? NULL : families(familyId)));
  };

  return (url) => {
    const row = last.get(urlKey(url));
    if (row === undefined) return null;
    const [id, ts, kind, removalId, reporterId] = row;
    return lastJson(id, url, statusOf(ts, kind, removalId, reporterId), payloadOf(row));
  };
}

/** Without an event all of its columns are null. */
function createStatusOf(db: Database) {
  const removals = createTextCache(db, 'removals', 'reason');
  const reporters = createTextCache(db, 'reporters', 'name');
  return (ts: number | null, kind: number, removalId: number, reporterId: number): Json =>
    ts === null ? NULL : statusJson(ts, kind, removals(removalId), reporters(reporterId));
}

// Few payloads have details of their own, and every column costs: all details are one column, null if there are none.
const ownDetailsSql = (payloads: string): string => {
  const columns = ['mime_type', 'file_type', 'file_ext', 'file_size', 'file_name'].map((name) => `${payloads}.${name}`);
  return `case when coalesce(${columns.join()}) is not null then json_array(${columns.join()}) end`;
};

// One statement for a batch takes two thirds of the time of one for each URL, although the keys are passed as hexadecimal
// text (docs/decisions/bulk.md). `k.key`: the place in the array, from 0.
const OF_KEYS = 'from json_each(?) k cross join urls u on u.url_key = unhex(k.value)';

const STATUS_OF_MANY = `
  select k.key, u.id, u.event_ts, u.event_kind, u.event_removal_id, u.event_reporter_id ${OF_KEYS}`;
type StatusOfManyRow = [
  place: number,
  id: number,
  eventTs: number | null,
  kind: number,
  removalId: number,
  reporterId: number,
];

const LAST_OF_MANY = `
  select k.key, u.id, u.event_ts, u.event_kind, u.event_removal_id, u.event_reporter_id,
    p.ts, p.file_id, p.family_id, ${ownDetailsSql('p')}
  ${OF_KEYS}
  left join payloads p on p.url_id = u.id and p.ts = u.payload_ts and p.file_id = u.payload_file_id`;
type LastOfManyRow = [
  ...StatusOfManyRow,
  payloadTs: number | null,
  fileId: number,
  familyId: number | null,
  ownDetails: string | null,
];

/** The same for a batch of URLs. */
function createReadMany(db: Reader, known: KnownUrls | null): UrlStore['lastOfMany'] {
  const lastOfMany = db.prepare<LastOfManyRow>(LAST_OF_MANY);
  const statusOfMany = db.prepare<StatusOfManyRow>(STATUS_OF_MANY);
  const statusOf = createStatusOf(db);
  const files = createFileCache(db);

  function payloadOf(ts: number | null, fileId: number, familyId: number | null, ownDetails: string | null): Json {
    return ts === null ? NULL : recordJson(ts, files.tailOf(fileId, familyId, ownDetails));
  }

  return (urls, view) => {
    const found: (Json | null)[] = new Array(urls.length).fill(null);
    const places = known === null ? [...urls.keys()] : known.candidates(urls);
    if (places.length === 0) return found;
    const keys = JSON.stringify(places.map((place) => urlKeyHex(urls[place] as string)));
    if (view === 'status') {
      for (const [at, id, ts, kind, removalId, reporterId] of statusOfMany.all(keys)) {
        const place = places[at] as number;
        found[place] = lastStatusJson(id, urls[place] as string, statusOf(ts, kind, removalId, reporterId));
      }
      return found;
    }
    files.renew();
    for (const row of lastOfMany.all(keys)) {
      const [at, id, ts, kind, removalId, reporterId, payloadTs, fileId, familyId, ownDetails] = row;
      const place = places[at] as number;
      const status = statusOf(ts, kind, removalId, reporterId);
      const payload = payloadOf(payloadTs, fileId, familyId, ownDetails);
      found[place] = lastJson(id, urls[place] as string, status, payload);
    }
    return found;
  };
}

// A bare `limit ?` costs 14 µs more per run: SQLite seems to plan the statement again whenever a limit is bound, but not
// if the limit is an expression.
const LIMIT = 'limit cast(? as integer)';

// Reason and kind in one number: one column less per row.
const NEWEST_EVENTS = `
  select ts, removal_id * ${FIRST_HIDDEN_KIND} + kind, reporter_id from events
  where url_id = ? and kind < ${FIRST_HIDDEN_KIND} order by ts desc, kind desc ${LIMIT}`;
type HistoryEventRow = [ts: number, removalAndKind: number, reporterId: number];

const HISTORY_PAYLOAD_COLUMNS = `ts, file_id, family_id, ${ownDetailsSql('payloads')}`;
type HistoryPayloadRow = [ts: number, fileId: number, familyId: number | null, ownDetails: string | null];

const NEWEST_PAYLOADS = `
  select ${HISTORY_PAYLOAD_COLUMNS} from payloads where url_id = ? order by ts desc, file_id desc ${LIMIT}`;

const PAYLOADS_OF_TIME = `
  select ${HISTORY_PAYLOAD_COLUMNS} from payloads where url_id = ? and ts = ? limit ${MAX_TIES}`;

const FILE_KEY = 'select file_key from files where id = ?';

/** Reads the history of one URL. A join costs a microsecond per row, so names and files are cached as JSON. */
function createReadHistory(db: Reader): (url: string, limit: number) => Json | null {
  const id = db.prepare<[number]>(URL_ID);
  const newestEvents = db.prepare<HistoryEventRow>(NEWEST_EVENTS);
  const newestPayloads = db.prepare<HistoryPayloadRow>(NEWEST_PAYLOADS);
  const payloadsOfTime = db.prepare<HistoryPayloadRow>(PAYLOADS_OF_TIME);
  const fileKey = db.prepare<[Uint8Array]>(FILE_KEY);
  const tailOf = createEventCache(db);
  const files = createFileCache(db);

  function eventsOf(urlId: number, limit: number): OpenArray {
    let list = '';
    for (const [ts, removalAndKind, reporterId] of newestEvents.all(urlId, limit)) {
      list = addRecord(list, ts, tailOf(removalAndKind, reporterId));
    }
    return list;
  }

  function payloadsOf(urlId: number, limit: number): OpenArray {
    files.renew();
    let list = '';
    for (const [ts, fileId, familyId, ownDetails] of newestOf(urlId, limit)) {
      list = addRecord(list, ts, files.tailOf(fileId, familyId, ownDetails));
    }
    return list;
  }

  function newestOf(urlId: number, limit: number): HistoryPayloadRow[] {
    // One more row than the limit shows whether there are more payloads of the oldest time.
    const rows = newestPayloads.all(urlId, limit + 1);
    const beyond = rows.length > limit ? rows.pop() : undefined;
    const oldest = rows.at(-1)?.[0];
    if (beyond === undefined || beyond[0] !== oldest) return inOrder(rows);
    const newer = rows.filter(([ts]) => ts > beyond[0]);
    return inOrder([...newer, ...payloadsOfTime.all(urlId, beyond[0])]).slice(0, limit);
  }

  /** Newest first. The index orders payloads of one time by file id; few URLs have any. */
  function inOrder(rows: HistoryPayloadRow[]): HistoryPayloadRow[] {
    if (!hasEqualTimes(rows)) return rows;
    const keys = new Map(rows.map(([, fileId]) => [fileId, fileKey.one(fileId)[0]]));
    const servedFile = ([ts, fileId]: HistoryPayloadRow) => ({ ts, key: keys.get(fileId) as Uint8Array });
    return rows.sort((a, b) => comparePayloads(servedFile(b), servedFile(a)));
  }

  return (url, limit) => {
    const urlId = id.get(urlKey(url))?.[0];
    if (urlId === undefined) return null;
    return historyJson(urlId, url, eventsOf(urlId, limit), payloadsOf(urlId, limit));
  };
}

/** Requires rows in order of time. */
function hasEqualTimes(rows: readonly HistoryPayloadRow[]): boolean {
  let newer = Number.NaN;
  for (const [ts] of rows) {
    if (ts === newer) return true;
    newer = ts;
  }
  return false;
}
