import type { Database } from './database.ts';

export type Details = [
  mimeType: string | null,
  fileType: string | null,
  fileExt: string | null,
  fileSize: number | null,
  fileName: string | null,
];

/** A file as it is known now; `isChanged` when some of it is new. */
export type KnownFile = { id: number; familyId: number | null; details: Details; isChanged: boolean };

type FileRow = [id: number, familyId: number | null, ...Details];

const FIND = `
  select id, family_id, mime_type, file_type, file_ext, file_size, file_name from files where file_key = ?`;

const ADD = `
  insert into files (file_key, family_id, mime_type, file_type, file_ext, file_size, file_name)
  values (?, ?, ?, ?, ?, ?, ?) returning id`;

const FILL = `
  update files set family_id = ?, mime_type = ?, file_type = ?, file_ext = ?, file_size = ?, file_name = ?
  where id = ?`;

const NOTE_SPREAD = 'insert or ignore into family_spreads (file_id) values (?)';

/** Adds a file, or fills in what was unknown of it: what is told first stays. */
export function createKnowFile(db: Database) {
  const find = db.prepare<FileRow>(FIND);
  const add = db.prepare<[number]>(ADD);
  const fill = db.prepare(FILL);
  const noteSpread = db.prepare(NOTE_SPREAD);

  return (key: Uint8Array, familyId: number | null, details: Details): KnownFile => {
    const found = find.get(key);
    if (found === undefined) {
      const [id] = add.get(key, familyId, ...details) as [number];
      return { id, familyId, details, isChanged: true };
    }
    const [id, oldFamilyId, ...old] = found;
    const filled = old.map((value, i) => value ?? details[i] ?? null) as Details;
    const filledFamilyId = oldFamilyId ?? familyId;
    const isChanged = filledFamilyId !== oldFamilyId || filled.some((value, i) => value !== old[i]);
    if (isChanged) fill.run(filledFamilyId, ...filled, id);
    if (filledFamilyId !== oldFamilyId) noteSpread.run(id);
    return { id, familyId: filledFamilyId, details: filled, isChanged };
  };
}
