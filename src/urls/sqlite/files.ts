import type { FileReport } from '../../core/observation.ts';
import type { Database } from '../../database/sqlite/database.ts';
import { type Details, detailsOf, fileKey, fillFile, type KnownFile } from '../file-rules.ts';
import type { Dictionaries } from './dictionaries.ts';

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
export function createUpsertFile(db: Database) {
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

/** Fills in details of files in one transaction; returns how many files changed. */
export function createApplyFiles(db: Database, { families, transaction }: Dictionaries, spreadFamilies: () => void) {
  const knowFile = createUpsertFile(db);

  function applyFile(file: FileReport): boolean {
    const familyId = file.family === null ? null : families.idOf(file.family);
    return knowFile(fileKey(file), { familyId, details: detailsOf(file) }).isChanged;
  }

  return (files: readonly FileReport[]): number => {
    const changed = transaction(() => files.filter(applyFile).length);
    spreadFamilies();
    return changed;
  };
}

/** Payloads looked at in one transaction: some tens of milliseconds. */
const CHUNK = 5_000;

type Place = [ts: number, urlId: number, familyId: number | null];

const NEXT_FILE = 'select file_id, family_id from family_spreads join files on files.id = file_id limit 1';

const CHUNK_OF_FILE = `
  select p.ts, p.url_id, p.family_id from payloads p
  where p.file_id = ? and (p.ts, p.url_id) > (?, ?) order by p.ts, p.url_id limit ${CHUNK}`;

const SET_FAMILY = 'update payloads set family_id = ? where url_id = ? and ts = ? and file_id = ?';

const SPREAD_DONE = 'delete from family_spreads where file_id = ?';

/**
 * Gives a family that became known for a file to the payloads stored before. One hash may have a hundred thousand, so
 * it is done chunk by chunk; a process that ends half way leaves the note, and the next batch goes on.
 */
export function createSpreadFamilies(db: Database) {
  const nextFile = db.prepare<[fileId: number, familyId: number]>(NEXT_FILE);
  const chunkOf = db.prepare<Place>(CHUNK_OF_FILE);
  const setFamily = db.prepare(SET_FAMILY);
  const done = db.prepare(SPREAD_DONE);

  function spreadChunk(fileId: number, familyId: number, [afterTs, afterUrlId]: Place): Place | null {
    const places = chunkOf.all(fileId, afterTs, afterUrlId);
    for (const [ts, urlId, old] of places) if (old === null) setFamily.run(familyId, urlId, ts, fileId);
    const last = places.length < CHUNK ? null : (places.at(-1) ?? null);
    if (last === null) done.run(fileId);
    return last;
  }

  return (): void => {
    for (let file = nextFile.get(); file !== undefined; file = nextFile.get()) {
      const [fileId, familyId] = file;
      let after: Place | null = [-1, 0, null];
      while (after !== null) {
        const from: Place = after;
        after = db.transaction(() => spreadChunk(fileId, familyId, from));
      }
    }
  };
}
