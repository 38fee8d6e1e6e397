import type { Database, Reader } from '../../database/sqlite/database.ts';
import { comparePayloads, MAX_TIES } from '../file-rules.ts';
import type { LastView, UrlStore } from '../store.ts';
import { FIRST_HIDDEN_KIND } from '../stored-timeline.ts';
import { urlKey } from '../url-group.ts';
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

const URL_ID = 'select id from urls where url_key = ?';

const HAS = 'select 1 from urls where id = ?';

/** The lookups of one URL. */
export function createLookup(db: Reader): Pick<UrlStore, 'urlId' | 'urlLast' | 'lastOfMany' | 'urlHistory' | 'hasUrl'> {
  const id = db.prepare<[number]>(URL_ID);
  const has = db.prepare<[1]>(HAS);

  return {
    urlId: (url) => id.get(urlKey(url))?.[0] ?? null,
    ...createReadLast(db),
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

const LAST_STATUS = `
  select id, event_ts, event_kind, event_removal_id, event_reporter_id from urls where url_key = ?`;
type LastStatusRow = [id: number, eventTs: number | null, kind: number, removalId: number, reporterId: number];

/** The hot path: the last status and the last payload of a URL. */
function createReadLast(db: Database): Pick<UrlStore, 'lastOfMany'> & { urlLast(url: string): Json | null } {
  const last = db.prepare<LastRow>(LAST);
  const lastStatus = db.prepare<LastStatusRow>(LAST_STATUS);
  const removals = createTextCache(db, 'removals', 'reason');
  const reporters = createTextCache(db, 'reporters', 'name');
  const families = createTextCache(db, 'families', 'name');

  const statusOf = ([, ts, kind, removalId, reporterId]: LastRow | LastStatusRow): Json =>
    ts === null ? NULL : statusJson(ts, kind, removals(removalId), reporters(reporterId));

  const payloadOf = (row: LastRow): Json => {
    const [, , , , , ts, sha256, mimeType, fileType, fileExt, fileSize, fileName, familyId] = row;
    if (ts === null) return NULL;
    const file = { mimeType, fileType, fileExt, fileSize, fileName, sha256 };
    return recordJson(ts, payloadTail(file, familyId === null ? NULL : families(familyId)));
  };

  function urlLast(url: string): Json | null {
    const row = last.get(urlKey(url));
    return row === undefined ? null : lastJson(row[0], url, statusOf(row), payloadOf(row));
  }

  function urlLastStatus(url: string): Json | null {
    const row = lastStatus.get(urlKey(url));
    return row === undefined ? null : lastStatusJson(row[0], url, statusOf(row));
  }

  const readers: Record<LastView, (url: string) => Json | null> = { last: urlLast, status: urlLastStatus };
  return { urlLast, lastOfMany: (urls, view) => urls.map(readers[view]) };
}

// A bare `limit ?` costs 14 µs more per run: SQLite seems to plan the statement again whenever a limit is bound, but not
// if the limit is an expression.
const LIMIT = 'limit cast(? as integer)';

// Reason and kind in one number: one column less per row.
const NEWEST_EVENTS = `
  select ts, removal_id * ${FIRST_HIDDEN_KIND} + kind, reporter_id from events
  where url_id = ? and kind < ${FIRST_HIDDEN_KIND} order by ts desc, kind desc ${LIMIT}`;
type HistoryEventRow = [ts: number, removalAndKind: number, reporterId: number];

// Few payloads have details of their own, and every column costs: all details are one column, null if there are none.
const HISTORY_PAYLOAD_COLUMNS = `
  ts, file_id, family_id,
  case when coalesce(mime_type, file_type, file_ext, file_size, file_name) is not null
    then json_array(mime_type, file_type, file_ext, file_size, file_name) end`;
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
      const tail =
        ownDetails === null
          ? files.tailOf(fileId, familyId)
          : files.ownTailOf(fileId, familyId, JSON.parse(ownDetails));
      list = addRecord(list, ts, tail);
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
