import type { ObservedPayload } from '../../core/observation.ts';
import type { Database } from '../../database/sqlite/database.ts';
import { detailsOf, fileKey, ownDetails } from '../file-rules.ts';
import type { Dictionary } from './dictionaries.ts';
import { createUpsertFile } from './files.ts';

const ADD_PAYLOAD = `
  insert or ignore into payloads
    (url_id, ts, file_id, family_id, mime_type, file_type, file_ext, file_size, file_name)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

// At equal times the greater key wins, so that the last payload does not depend on the order of arrival.
const SET_LAST = `
  update urls set payload_ts = :ts, payload_file_id = :file
  where id = :url and (payload_ts is null or payload_ts < :ts
    or (payload_ts = :ts and (select file_key from files where id = payload_file_id) < :key))`;

/** Writes one payload; returns how many were new. What is told first of a payload stays. */
export function createApplyPayload(db: Database, families: Dictionary) {
  const knowFile = createUpsertFile(db);
  const addPayload = db.prepare(ADD_PAYLOAD);
  const setLast = db.prepare(SET_LAST);

  return (urlId: number, payload: ObservedPayload): number => {
    const { ts, family } = payload;
    const key = fileKey(payload);
    const details = detailsOf(payload);
    const toldFamilyId = family === null ? null : families.idOf(family);
    const file = knowFile(key, { familyId: toldFamilyId, details });
    const own = ownDetails(details, file.details);
    const added = addPayload.run(urlId, ts, file.id, toldFamilyId ?? file.familyId, ...own);
    if (added > 0) setLast.run({ ts, file: file.id, url: urlId, key });
    return added;
  };
}
