import type { Payload, StatusEvent, UrlHistory } from '../../core/records.ts';
import { FIRST_HIDDEN_KIND } from '../entry-kind.ts';
import type { Details } from '../known-file.ts';
import { toEvent } from '../record-rows.ts';
import { urlKey } from '../url-key.ts';
import type { Database } from './database.ts';
import { createFiles } from './files.ts';
import { createNames } from './names.ts';

const ID = 'select id from urls where url_key = ?';

const NEWEST_EVENTS = `
  select ts, kind, removal_id, reporter_id from events
  where url_id = ? and kind < ${FIRST_HIDDEN_KIND} order by ts desc, kind desc limit ?`;

// Few payloads keep details of their own, and every column of every row costs: these come as one, where there are any.
const PAYLOAD_COLUMNS = `
  ts, file_id, family_id,
  case when coalesce(mime_type, file_type, file_ext, file_size, file_name) is not null
    then json_array(mime_type, file_type, file_ext, file_size, file_name) end`;
type PayloadRow = [ts: number, fileId: number, familyId: number | null, ownDetails: string | null];

const NEWEST_PAYLOADS = `
  select ${PAYLOAD_COLUMNS} from payloads where url_id = ? order by ts desc, file_id desc limit ?`;

// At most so many of one time are put in order: more files from one URL in one second come in any order.
const PAYLOADS_OF_TIME = `select ${PAYLOAD_COLUMNS} from payloads where url_id = ? and ts = ? limit 1000`;

const NO_DETAILS: Details = [null, null, null, null, null];

/** What happened to one URL. A join costs a microsecond a row, so names and files come from memory. */
export function createReadHistory(db: Database) {
  const id = db.prepare<[number]>(ID);
  const newestEvents = db.prepare<[ts: number, kind: number, removalId: number, reporterId: number]>(NEWEST_EVENTS);
  const newestPayloads = db.prepare<PayloadRow>(NEWEST_PAYLOADS);
  const payloadsOfTime = db.prepare<PayloadRow>(PAYLOADS_OF_TIME);
  const removals = createNames(db, 'removals', 'reason');
  const reporters = createNames(db, 'reporters', 'name');
  const families = createNames(db, 'families', 'name');
  const files = createFiles(db);

  function eventsOf(urlId: number, limit: number): StatusEvent[] {
    return newestEvents
      .all(urlId, limit)
      .map(([ts, kind, removalId, reporterId]) => toEvent([ts, kind, removals(removalId), reporters(reporterId)]));
  }

  function payloadsOf(urlId: number, limit: number): Payload[] {
    files.renew();
    const rows = newestPayloads.all(urlId, limit);
    const oldest = rows.length < limit ? undefined : rows.at(-1)?.[0];
    if (oldest === undefined) return rows.sort(byTimeAndKey).map(toPayload);
    const newer = rows.filter(([ts]) => ts > oldest);
    return [...newer, ...payloadsOfTime.all(urlId, oldest)].sort(byTimeAndKey).slice(0, limit).map(toPayload);
  }

  /** At equal times the greater key first, as in `urlLast`, whichever came first. */
  function byTimeAndKey([ts, fileId]: PayloadRow, [otherTs, otherFileId]: PayloadRow): number {
    return otherTs - ts || Buffer.compare(files.of(otherFileId).key, files.of(fileId).key);
  }

  function toPayload([ts, fileId, familyId, ownDetails]: PayloadRow): Payload {
    const file = files.of(fileId);
    const [mimeType, fileType, fileExt, fileSize, fileName] =
      ownDetails === null ? NO_DETAILS : (JSON.parse(ownDetails) as Details);
    return {
      ts,
      sha256: file.sha256,
      mimeType: mimeType ?? file.mimeType,
      fileType: fileType ?? file.fileType,
      fileExt: fileExt ?? file.fileExt,
      fileSize: fileSize ?? file.fileSize,
      fileName: fileName ?? file.fileName,
      family: familyId === null ? null : families(familyId),
    };
  }

  return {
    async urlHistory(url: string, limit: number): Promise<UrlHistory | null> {
      const urlId = id.get(urlKey(url))?.[0];
      if (urlId === undefined) return null;
      return { id: urlId, url, events: eventsOf(urlId, limit), payloads: payloadsOf(urlId, limit) };
    },
  };
}
