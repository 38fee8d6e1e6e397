import type { Database } from '../../database/sqlite/database.ts';
import { comparePayloads } from '../file-rules.ts';
import type { UrlStore } from '../store.ts';
import { FIRST_HIDDEN_KIND } from '../stored-timeline.ts';
import { urlKey } from '../url-group.ts';
import {
  addRecord,
  historyJson,
  type Json,
  lastJson,
  NULL,
  type OpenArray,
  payloadTail,
  recordJson,
  statusJson,
} from '../wire.ts';
import { createEventCache, createFileCache, createTextCache } from './json-cache.ts';

const URL_ID = 'select id from urls where url_key = ?';

const HAS = 'select 1 from urls where id = ?';

/** The reads that answer about one URL. */
export function createLookup(db: Database): Pick<UrlStore, 'urlId' | 'urlLast' | 'urlHistory' | 'hasUrl'> {
  const id = db.prepare<[number]>(URL_ID);
  const has = db.prepare<[1]>(HAS);

  return {
    urlId: (url) => id.get(urlKey(url))?.[0] ?? null,
    urlLast: createReadLast(db),
    urlHistory: createReadHistory(db),
    hasUrl: async (urlId) => has.get(urlId) !== undefined,
  };
}

// Numbers and texts only, and no more than the answer has: of what a look-up costs, a third is joins for names and
// values that are made for JavaScript, bytes being the dearest (docs/decisions/reads.md). A file without a hash is known
// by a shorter key.
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

/** The event and the payload are there as a whole or not at all. */
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
  const removals = createTextCache(db, 'removals', 'reason');
  const reporters = createTextCache(db, 'reporters', 'name');
  const families = createTextCache(db, 'families', 'name');

  const statusOf = ([, ts, kind, removalId, reporterId]: LastRow): Json =>
    ts === null ? NULL : statusJson(ts, kind, removals(removalId), reporters(reporterId));

  const payloadOf = (row: LastRow): Json => {
    const [, , , , , ts, sha256, mimeType, fileType, fileExt, fileSize, fileName, familyId] = row;
    if (ts === null) return NULL;
    const file = { mimeType, fileType, fileExt, fileSize, fileName, sha256 };
    return recordJson(ts, payloadTail(file, familyId === null ? NULL : families(familyId)));
  };

  return (url) => {
    const row = last.get(urlKey(url));
    return row === undefined ? null : lastJson(row[0], url, statusOf(row), payloadOf(row));
  };
}

// A bare `limit ?` costs 14 µs more at each run: SQLite seems to plan the statement anew whenever a limit is bound, but not
// where the limit is an expression.
const LIMIT = 'limit cast(? as integer)';

// Reason and kind in one number: a column less in every row.
const NEWEST_EVENTS = `
  select ts, removal_id * ${FIRST_HIDDEN_KIND} + kind, reporter_id from events
  where url_id = ? and kind < ${FIRST_HIDDEN_KIND} order by ts desc, kind desc ${LIMIT}`;
type HistoryEventRow = [ts: number, removalAndKind: number, reporterId: number];

// Few payloads keep details of their own, and every column of every row costs: these come as one, where there are any.
const HISTORY_PAYLOAD_COLUMNS = `
  ts, file_id, family_id,
  case when coalesce(mime_type, file_type, file_ext, file_size, file_name) is not null
    then json_array(mime_type, file_type, file_ext, file_size, file_name) end`;
type HistoryPayloadRow = [ts: number, fileId: number, familyId: number | null, ownDetails: string | null];

const NEWEST_PAYLOADS = `
  select ${HISTORY_PAYLOAD_COLUMNS} from payloads where url_id = ? order by ts desc, file_id desc ${LIMIT}`;

// At most so many of one time are put in order: more files from one URL in one second come in any order.
const PAYLOADS_OF_TIME = `select ${HISTORY_PAYLOAD_COLUMNS} from payloads where url_id = ? and ts = ? limit 1000`;

const FILE_KEY = 'select file_key from files where id = ?';

/** What happened to one URL. A join costs a microsecond a row, so names and files come from memory, as JSON. */
function createReadHistory(db: Database): (url: string, limit: number) => Json | null {
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
    // One more than wanted tells whether the oldest time has more of them.
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
    const keys = new Map(rows.map(([, fileId]) => [fileId, (fileKey.get(fileId) as [Uint8Array])[0]]));
    const servedFile = ([ts, fileId]: HistoryPayloadRow) => ({ ts, key: keys.get(fileId) as Uint8Array });
    return rows.sort((a, b) => comparePayloads(servedFile(b), servedFile(a)));
  }

  return (url, limit) => {
    const urlId = id.get(urlKey(url))?.[0];
    if (urlId === undefined) return null;
    return historyJson(urlId, url, eventsOf(urlId, limit), payloadsOf(urlId, limit));
  };
}

/** Of rows in order of time. */
function hasEqualTimes(rows: readonly HistoryPayloadRow[]): boolean {
  let newer = Number.NaN;
  for (const [ts] of rows) {
    if (ts === newer) return true;
    newer = ts;
  }
  return false;
}
