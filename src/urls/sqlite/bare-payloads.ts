import type { Database } from '../../database/sqlite/database.ts';
import { DETAILS_KEY_BYTES, MAX_TIES, SHA256_BYTES } from '../file-rules.ts';
import type { PayloadOfTime } from '../integrity-rows.ts';
import { newestPayload } from '../integrity-rules.ts';

const HAS_FILE = `
  select 1 from payloads p join files f on f.id = p.file_id join families m on m.id = p.family_id
  where p.url_id = ?1 and length(f.file_key) = ${SHA256_BYTES}
    and m.folded = (select folded from families where id = ?2) limit 1`;

const DELETE_BARE = `
  delete from payloads where (url_id, ts, file_id) in (
    select p.url_id, p.ts, p.file_id from payloads p
    join files f on f.id = p.file_id join families m on m.id = p.family_id
    where p.url_id = ?1 and length(f.file_key) = ${DETAILS_KEY_BYTES}
      and f.mime_type is null and f.file_type is null and f.file_ext is null and f.file_size is null and f.file_name is null
      and m.folded = (select folded from families where id = ?2))`;

/** Of one URL. */
export const NEWEST_PAYLOADS = `
  select p.ts, p.file_id, files.file_key from payloads p left join files on files.id = p.file_id
  where p.url_id = ?1 and p.ts = (select max(ts) from payloads where url_id = ?1) limit ${MAX_TIES}`;

const SET_LAST = 'update urls set payload_ts = ?, payload_file_id = ? where id = ?';

/** Bare payloads: `isBare` in file-rules.ts. */
export function createBarePayloads(db: Database) {
  const hasFile = db.prepare<[number]>(HAS_FILE);
  const deleteBare = db.prepare(DELETE_BARE);
  const newestPayloads = db.prepare<PayloadOfTime>(NEWEST_PAYLOADS);
  const setLast = db.prepare(SET_LAST);
  return {
    /** Whether the URL has a payload with a file and this family, in any spelling. */
    hasFile: (urlId: number, familyId: number): boolean => hasFile.get(urlId, familyId) !== undefined,

    /** To be called when the URL got a payload with a file and this family. Returns whether payloads were deleted. */
    drop(urlId: number, familyId: number): boolean {
      if (deleteBare.run(urlId, familyId) === 0) return false;
      const newest = newestPayload(newestPayloads.all(urlId));
      setLast.run(newest?.ts ?? null, newest?.fileId ?? null, urlId);
      return true;
    },
  };
}
