import { addRecord, historyText, type Json, type OpenList } from '../answer-text.ts';
import { FIRST_HIDDEN_KIND } from '../entry-kind.ts';
import { urlKey } from '../url-key.ts';
import type { Database } from './database.ts';
import { createEventTails } from './event-tails.ts';
import { createFiles } from './files.ts';

const ID = 'select id from urls where url_key = ?';

// A bare `limit ?` costs 14 µs more at each run: SQLite seems to plan the statement anew whenever a limit is bound, but not
// where the limit is an expression.
const LIMIT = 'limit cast(? as integer)';

// Reason and kind in one number: a column less in every row.
const NEWEST_EVENTS = `
  select ts, removal_id * ${FIRST_HIDDEN_KIND} + kind, reporter_id from events
  where url_id = ? and kind < ${FIRST_HIDDEN_KIND} order by ts desc, kind desc ${LIMIT}`;
type EventRow = [ts: number, removalAndKind: number, reporterId: number];

// Few payloads keep details of their own, and every column of every row costs: these come as one, where there are any.
const PAYLOAD_COLUMNS = `
  ts, file_id, family_id,
  case when coalesce(mime_type, file_type, file_ext, file_size, file_name) is not null
    then json_array(mime_type, file_type, file_ext, file_size, file_name) end`;
type PayloadRow = [ts: number, fileId: number, familyId: number | null, ownDetails: string | null];

const NEWEST_PAYLOADS = `
  select ${PAYLOAD_COLUMNS} from payloads where url_id = ? order by ts desc, file_id desc ${LIMIT}`;

// At most so many of one time are put in order: more files from one URL in one second come in any order.
const PAYLOADS_OF_TIME = `select ${PAYLOAD_COLUMNS} from payloads where url_id = ? and ts = ? limit 1000`;

const FILE_KEY = 'select file_key from files where id = ?';

/** What happened to one URL. A join costs a microsecond a row, so names and files come from memory, as JSON. */
export function createReadHistory(db: Database) {
  const id = db.prepare<[number]>(ID);
  const newestEvents = db.prepare<EventRow>(NEWEST_EVENTS);
  const newestPayloads = db.prepare<PayloadRow>(NEWEST_PAYLOADS);
  const payloadsOfTime = db.prepare<PayloadRow>(PAYLOADS_OF_TIME);
  const fileKey = db.prepare<[Uint8Array]>(FILE_KEY);
  const tailOf = createEventTails(db);
  const files = createFiles(db);

  function eventsOf(urlId: number, limit: number): OpenList {
    let list = '';
    for (const [ts, removalAndKind, reporterId] of newestEvents.all(urlId, limit)) {
      list = addRecord(list, ts, tailOf(removalAndKind, reporterId));
    }
    return list;
  }

  function payloadsOf(urlId: number, limit: number): OpenList {
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

  function newestOf(urlId: number, limit: number): PayloadRow[] {
    // One more than wanted tells whether the oldest time has more of them.
    const rows = newestPayloads.all(urlId, limit + 1);
    const beyond = rows.length > limit ? rows.pop() : undefined;
    const oldest = rows.at(-1)?.[0];
    if (beyond === undefined || beyond[0] !== oldest) return inOrder(rows);
    const newer = rows.filter(([ts]) => ts > beyond[0]);
    return inOrder([...newer, ...payloadsOfTime.all(urlId, beyond[0])]).slice(0, limit);
  }

  /** At equal times the greater key first, as in `urlLast`, whichever came first. Few URLs have such payloads. */
  function inOrder(rows: PayloadRow[]): PayloadRow[] {
    if (!hasEqualTimes(rows)) return rows;
    const keys = new Map(rows.map(([, fileId]) => [fileId, (fileKey.get(fileId) as [Uint8Array])[0]]));
    const keyOf = ([, fileId]: PayloadRow) => keys.get(fileId) as Uint8Array;
    return rows.sort((a, b) => b[0] - a[0] || Buffer.compare(keyOf(b), keyOf(a)));
  }

  return {
    urlHistory(url: string, limit: number): Json | null {
      const urlId = id.get(urlKey(url))?.[0];
      if (urlId === undefined) return null;
      return historyText(urlId, url, eventsOf(urlId, limit), payloadsOf(urlId, limit));
    },
  };
}

/** Of rows in order of time. */
function hasEqualTimes(rows: readonly PayloadRow[]): boolean {
  let newer = Number.NaN;
  for (const [ts] of rows) {
    if (ts === newer) return true;
    newer = ts;
  }
  return false;
}
