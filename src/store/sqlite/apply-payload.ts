import type { ObservedPayload } from '../../core/observation.ts';
import { fileKey } from '../file-key.ts';
import type { Database } from './database.ts';
import type { Dictionary } from './dictionary.ts';

type Details = [
  mimeType: string | null,
  fileType: string | null,
  fileExt: string | null,
  fileSize: number | null,
  fileName: string | null,
];
type FileRow = [id: number, familyId: number | null, ...Details];

const FIND_FILE = `
  select id, family_id, mime_type, file_type, file_ext, file_size, file_name from files where file_key = ?`;

const ADD_FILE = `
  insert into files (file_key, family_id, mime_type, file_type, file_ext, file_size, file_name)
  values (?, ?, ?, ?, ?, ?, ?) returning id`;

const FILL_FILE = `
  update files set family_id = ?, mime_type = ?, file_type = ?, file_ext = ?, file_size = ?, file_name = ?
  where id = ?`;

const NOTE_SPREAD = 'insert or ignore into family_spreads (file_id) values (?)';

const ADD_PAYLOAD = `
  insert or ignore into payloads
    (url_id, ts, file_id, family_id, mime_type, file_type, file_ext, file_size, file_name)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

// At equal times the greater key wins, so that the last payload does not depend on the order of arrival.
const SET_LAST = `
  update urls set payload_ts = :ts, payload_file_id = :file
  where id = :url and (payload_ts is null or payload_ts < :ts
    or (payload_ts = :ts and (select file_key from files where id = payload_file_id) < :key))`;

/** Writes one payload; returns how many were new. What is told first of a file, and of a payload, stays. */
export function createApplyPayload(db: Database, families: Dictionary) {
  const findFile = db.prepare<FileRow>(FIND_FILE);
  const addFile = db.prepare<[number]>(ADD_FILE);
  const fillFile = db.prepare(FILL_FILE);
  const noteSpread = db.prepare(NOTE_SPREAD);
  const addPayload = db.prepare(ADD_PAYLOAD);
  const setLast = db.prepare(SET_LAST);

  /** The file as it is known now, this observation included. */
  function knowFile(key: Uint8Array, familyId: number | null, details: Details): FileRow {
    const found = findFile.get(key);
    if (found === undefined) {
      const [id] = addFile.get(key, familyId, ...details) as [number];
      return [id, familyId, ...details];
    }
    const [id, oldFamilyId, ...old] = found;
    const filled = old.map((value, i) => value ?? details[i] ?? null) as Details;
    const filledFamilyId = oldFamilyId ?? familyId;
    const isFilled = filledFamilyId !== oldFamilyId || filled.some((value, i) => value !== old[i]);
    if (isFilled) fillFile.run(filledFamilyId, ...filled, id);
    if (filledFamilyId !== oldFamilyId) noteSpread.run(id);
    return [id, filledFamilyId, ...filled];
  }

  return (urlId: number, payload: ObservedPayload): number => {
    const { ts, mimeType, fileType, fileExt, fileSize, fileName, family } = payload;
    const key = fileKey(payload);
    const told: Details = [mimeType, fileType, fileExt, fileSize, fileName];
    const toldFamilyId = family === null ? null : families.idOf(family);
    const [fileId, fileFamilyId, ...known] = knowFile(key, toldFamilyId, told);
    const own = told.map((value, i) => (value === known[i] ? null : value)) as Details;
    const added = addPayload.run(urlId, ts, fileId, toldFamilyId ?? fileFamilyId, ...own);
    if (added > 0) setLast.run({ ts, file: fileId, url: urlId, key });
    return added;
  };
}
