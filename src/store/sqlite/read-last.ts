import { type Json, lastText, NULL, payloadTail, recordText, statusText } from '../answer-text.ts';
import { urlKey } from '../url-key.ts';
import type { Database } from './database.ts';
import { createNames } from './names.ts';

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
export function createReadLast(db: Database): (url: string) => Json | null {
  const last = db.prepare<LastRow>(LAST);
  const removals = createNames(db, 'removals', 'reason');
  const reporters = createNames(db, 'reporters', 'name');
  const families = createNames(db, 'families', 'name');

  const statusOf = ([, ts, kind, removalId, reporterId]: LastRow): Json =>
    ts === null ? NULL : statusText(ts, kind, removals(removalId), reporters(reporterId));

  const payloadOf = (row: LastRow): Json => {
    const [, , , , , ts, sha256, mimeType, fileType, fileExt, fileSize, fileName, familyId] = row;
    if (ts === null) return NULL;
    const file = { mimeType, fileType, fileExt, fileSize, fileName, sha256 };
    return recordText(ts, payloadTail(file, familyId === null ? NULL : families(familyId)));
  };

  return (url) => {
    const row = last.get(urlKey(url));
    return row === undefined ? null : lastText(row[0], url, statusOf(row), payloadOf(row));
  };
}
