import type { FileReport } from '../../core/observation.ts';
import type { Database } from '../../database/sqlite/database.ts';
import type { Dictionaries } from '../../database/sqlite/dictionaries.ts';
import { type DetailColumns, detailsOf, type FileColumns, fileKey, fillFile } from '../file-rules.ts';
import { createBarePayloads } from './bare-payloads.ts';

type FileRow = [id: number, familyId: number | null, ...DetailColumns];

const FIND = `
  select id, family_id, mime_type, file_type, file_ext, file_size, file_name from files where file_key = ?`;

const ADD = `
  insert into files (file_key, family_id, mime_type, file_type, file_ext, file_size, file_name)
  values (?, ?, ?, ?, ?, ?, ?)`;

const FILL = `
  update files set family_id = ?, mime_type = ?, file_type = ?, file_ext = ?, file_size = ?, file_name = ?
  where id = ?`;

export const NOTE_BACKFILL = 'insert or ignore into family_spreads (file_id) values (?)';

/** Adds a file, or fills in its unknown columns. `isChanged`: the file is new, or a column was filled in. */
export function createUpsertFile(db: Database) {
  const find = db.prepare<FileRow>(FIND);
  const add = db.prepare(ADD);
  const fill = db.prepare(FILL);
  const noteBackfill = db.prepare(NOTE_BACKFILL);

  return (key: Uint8Array, given: FileColumns): FileColumns & { id: number; isChanged: boolean } => {
    const found = find.get(key);
    if (found === undefined) {
      const id = add.insert(key, given.familyId, ...given.details);
      return { id, ...given, isChanged: true };
    }
    const [id, familyId, ...details] = found;
    const filled = fillFile({ familyId, details }, given);
    if (filled.isChanged) fill.run(filled.familyId, ...filled.details, id);
    if (filled.familyId !== familyId) noteBackfill.run(id);
    return { id, ...filled };
  };
}

/** Fills in details of files in one transaction; returns how many reports changed a file. */
export function createApplyFiles(
  db: Database,
  { families, transaction }: Dictionaries,
  backfillFamilies: BackfillFamilies,
) {
  const upsertFile = createUpsertFile(db);

  function applyFile(file: FileReport): boolean {
    const familyId = file.family === null ? null : families.idOf(file.family);
    return upsertFile(fileKey(file), { familyId, details: detailsOf(file) }).isChanged;
  }

  return (files: readonly FileReport[]): number => {
    const changed = transaction(() => files.filter(applyFile).length);
    backfillFamilies.run();
    return changed;
  };
}

export type BackfillFamilies = ReturnType<typeof createBackfillFamilies>;

/** Payloads read in one transaction, which takes some tens of milliseconds. */
const CHUNK_ROWS = 5_000;

type PayloadPlace = [ts: number, urlId: number, familyId: number | null];

const NEXT_FILE = 'select file_id, family_id from family_spreads join files on files.id = file_id limit 1';

const PAYLOADS_OF_FILE = `
  select p.ts, p.url_id, p.family_id from payloads p
  where p.file_id = ? and (p.ts, p.url_id) > (?, ?) order by p.ts, p.url_id limit ${CHUNK_ROWS}`;

const SET_FAMILY = 'update payloads set family_id = ? where url_id = ? and ts = ? and file_id = ?';

const IS_LAST = 'select 1 from urls where id = ? and payload_ts = ? and payload_file_id = ?';

const BACKFILL_DONE = 'delete from family_spreads where file_id = ?';

/**
 * Sets the family of a file, once it is known, in the payloads stored before. One file may have a hundred thousand
 * payloads, so each chunk is a transaction. If the process ends before the last one, the row in `family_spreads` stays
 * and the next batch continues.
 */
export function createBackfillFamilies(db: Database, { changes, transaction }: Dictionaries) {
  const nextFile = db.prepare<[fileId: number, familyId: number]>(NEXT_FILE);
  const payloadsOf = db.prepare<PayloadPlace>(PAYLOADS_OF_FILE);
  const setFamily = db.prepare(SET_FAMILY);
  const done = db.prepare(BACKFILL_DONE);
  const isLast = db.prepare<[number]>(IS_LAST);
  const bare = createBarePayloads(db);

  function backfillChunk(fileId: number, familyId: number, [afterTs, afterUrlId]: PayloadPlace): PayloadPlace | null {
    const payloads = payloadsOf.all(fileId, afterTs, afterUrlId);
    for (const [ts, urlId, old] of payloads) {
      if (old !== null) continue;
      setFamily.run(familyId, urlId, ts, fileId);
      const isDropped = bare.drop(urlId, familyId);
      if (isDropped || isLast.get(urlId, ts, fileId) !== undefined) changes.url(urlId, 'update');
    }
    const last = payloads.length < CHUNK_ROWS ? null : (payloads.at(-1) ?? null);
    if (last === null) done.run(fileId);
    return last;
  }

  return {
    isNeeded: (): boolean => nextFile.get() !== undefined,

    run(): void {
      for (let file = nextFile.get(); file !== undefined; file = nextFile.get()) {
        const [fileId, familyId] = file;
        let after: PayloadPlace | null = [-1, 0, null];
        while (after !== null) {
          const from: PayloadPlace = after;
          after = transaction(() => backfillChunk(fileId, familyId, from));
        }
      }
    },
  };
}
