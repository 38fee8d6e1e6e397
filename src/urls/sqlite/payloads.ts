import type { ObservedPayload } from '../../core/observation.ts';
import type { Database } from '../../database/sqlite/database.ts';
import type { Dictionary } from '../../database/sqlite/dictionaries.ts';
import { detailsOf, fileKey, isNewerPayload, ownDetails, type ServedFile } from '../file-rules.ts';
import { createUpsertFile } from './files.ts';

// The first details given for a payload stay.
const ADD_PAYLOAD = `
  insert or ignore into payloads
    (url_id, ts, file_id, family_id, mime_type, file_type, file_ext, file_size, file_name)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const LAST = 'select payload_ts, file_key from urls join files on files.id = payload_file_id where urls.id = ?';

const SET_LAST = 'update urls set payload_ts = ?, payload_file_id = ? where id = ?';

type AddedPayload = ServedFile & { fileId: number };

/** Writes the payloads of one URL; returns how many were new. `isNewUrl`: the URL has no payload yet. */
export function createApplyPayloads(db: Database, families: Dictionary) {
  const upsertFile = createUpsertFile(db);
  const addPayload = db.prepare(ADD_PAYLOAD);
  const findLast = db.prepare<[ts: number, key: Uint8Array]>(LAST);
  const setLast = db.prepare(SET_LAST);

  /** Null when the payload was stored before. */
  function add(urlId: number, payload: ObservedPayload): AddedPayload | null {
    const { ts, family } = payload;
    const key = fileKey(payload);
    const details = detailsOf(payload);
    const familyId = family === null ? null : families.idOf(family);
    const file = upsertFile(key, { familyId, details });
    const own = ownDetails(details, file.details);
    const added = addPayload.run(urlId, ts, file.id, familyId ?? file.familyId, ...own);
    return added === 0 ? null : { ts, key, fileId: file.id };
  }

  function lastOf(urlId: number): ServedFile | null {
    const row = findLast.get(urlId);
    return row === undefined ? null : { ts: row[0], key: row[1] };
  }

  return (urlId: number, payloads: readonly ObservedPayload[], isNewUrl: boolean): number => {
    let count = 0;
    let newest: AddedPayload | null = null;
    for (const payload of payloads) {
      const added = add(urlId, payload);
      if (added === null) continue;
      count++;
      if (isNewerPayload(added, newest)) newest = added;
    }
    if (newest !== null && isNewerPayload(newest, isNewUrl ? null : lastOf(urlId))) {
      setLast.run(newest.ts, newest.fileId, urlId);
    }
    return count;
  };
}
