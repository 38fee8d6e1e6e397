import { type Details, fillFile, type KnownFile } from '../known-file.ts';
import type { Database } from './database.ts';

type FileRow = [id: number, familyId: number | null, ...Details];

const FIND = `
  select id, family_id, mime_type, file_type, file_ext, file_size, file_name from files where file_key = ?`;

const ADD = `
  insert into files (file_key, family_id, mime_type, file_type, file_ext, file_size, file_name)
  values (?, ?, ?, ?, ?, ?, ?)`;

const FILL = `
  update files set family_id = ?, mime_type = ?, file_type = ?, file_ext = ?, file_size = ?, file_name = ?
  where id = ?`;

const NOTE_SPREAD = 'insert or ignore into family_spreads (file_id) values (?)';

/** Adds a file, or fills in what was unknown of it; `isChanged` when some of it is new. */
export function createKnowFile(db: Database) {
  const find = db.prepare<FileRow>(FIND);
  const add = db.prepare(ADD);
  const fill = db.prepare(FILL);
  const noteSpread = db.prepare(NOTE_SPREAD);

  return (key: Uint8Array, told: KnownFile): KnownFile & { id: number; isChanged: boolean } => {
    const found = find.get(key);
    if (found === undefined) {
      const id = add.insert(key, told.familyId, ...told.details);
      return { id, ...told, isChanged: true };
    }
    const [id, familyId, ...details] = found;
    const filled = fillFile({ familyId, details }, told);
    if (filled.isChanged) fill.run(filled.familyId, ...filled.details, id);
    if (filled.familyId !== familyId) noteSpread.run(id);
    return { id, ...filled };
  };
}
