import type { EventKind, Payload, StatusEvent, UrlLast } from '../../core/records.ts';
import { ENTRY_KINDS } from '../entry-kind.ts';
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
export function createReadLast(db: Database): (url: string) => UrlLast | null {
  const last = db.prepare<LastRow>(LAST);
  const removals = createNames(db, 'removals', 'reason');
  const reporters = createNames(db, 'reporters', 'name');
  const families = createNames(db, 'families', 'name');

  const eventOf = (row: LastRow): StatusEvent | null => {
    const [, ts, kind, removalId, reporterId] = row;
    if (ts === null) return null;
    return { ts, kind: ENTRY_KINDS[kind] as EventKind, removal: removals(removalId), reporter: reporters(reporterId) };
  };

  const payloadOf = (row: LastRow): Payload | null => {
    const [, , , , , ts, sha256, mimeType, fileType, fileExt, fileSize, fileName, familyId] = row;
    if (ts === null) return null;
    const family = familyId === null ? null : families(familyId);
    return { ts, sha256, mimeType, fileType, fileExt, fileSize, fileName, family };
  };

  return (url) => {
    const row = last.get(urlKey(url));
    return row === undefined ? null : { id: row[0], url, event: eventOf(row), payload: payloadOf(row) };
  };
}
