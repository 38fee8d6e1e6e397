import { type ByteText, toByteText } from '../../core/byte-text.ts';
import type { FileDetails, FileReport } from '../../core/observation.ts';
import { foldFamily } from '../../core/text.ts';
import { createChangeRecorder } from '../../database/changes.ts';
import { putChanges, putChangesOf } from '../../database/postgres/changes.ts';
import type { Database, Session } from '../../database/postgres/database.ts';
import { familyIds, type Ids } from '../../database/postgres/dictionaries.ts';
import { createLock, inOrder } from '../../database/postgres/lock-order.ts';
import { columns, runRows } from '../../database/postgres/parameters.ts';
import { type DetailColumns, detailsOf, type FileColumns, fileKey, fillFile, SHA256_BYTES } from '../file-rules.ts';
import { correctLast, deleteBare } from './bare-payloads.ts';
import { LOCK_URLS_BY_ID } from './locked-batch.ts';

/** What a batch gives for one file. `keyText`: the key as a string, to find it in maps. */
export type FileUpdate = { key: Uint8Array; keyText: ByteText; given: FileColumns };

export function fileUpdate(file: FileDetails & { sha256: string | null }, families: Ids): FileUpdate {
  const key = fileKey(file);
  const familyId = file.family === null ? null : (families.get(file.family) ?? null);
  return { key, keyText: toByteText(key), given: { familyId, details: detailsOf(file) } };
}

type StoredFile = FileColumns & { id: number; key: Uint8Array };

/** The files of a batch after all of its updates, and the rows that `fillFiles` writes. */
export type UpsertedFiles = {
  fileOf(update: FileUpdate): StoredFile;
  /** How many updates changed a file. */
  changed: number;
  toFill: StoredFile[];
  /** The ids of files whose family became known. */
  toBackfill: number[];
};

type FileRow = [id: number, key: Uint8Array, familyId: number | null, ...DetailColumns];

const COLUMNS = 'file_key, family_id, mime_type, file_type, file_ext, file_size, file_name';

const GIVEN = `
  unnest($1::bytea[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[]) as t (${COLUMNS})`;

const ADD = `
  insert into files (${COLUMNS}) select * from ${GIVEN}
  where not exists (select 1 from files f where f.file_key = t.file_key)
  order by t.file_key on conflict do nothing returning id`;

const LOCK = `select id, ${COLUMNS} from files where file_key = any($1::bytea[]) order by file_key for update`;

// The key is a hash of the details and the family: a stored file never differs from what is given, so it is not locked.
// Payloads with nothing but a family have few files, which all batches of a feed would lock.
const ADD_DETAILS = `
  with found as materialized (select t.*, f.id from ${GIVEN} left join files f on f.file_key = t.file_key),
  added as (
    insert into files (${COLUMNS}) select ${COLUMNS} from found where id is null
    order by file_key on conflict do nothing returning id, file_key)
  select id, file_key, 0 from found where id is not null union all select id, file_key, 1 from added`;

const FIND_DETAILS = 'select id, file_key, 0 from files where file_key = any($1::bytea[])';

type DetailsRow = [id: number, key: Uint8Array, isNew: 0 | 1];

/** Adds the new files with all of their columns; locks the others and fills in what is unknown. */
export async function upsertFiles(session: Session, updates: Iterable<FileUpdate>): Promise<UpsertedFiles> {
  const byKey = Map.groupBy(updates, ({ keyText }) => keyText);
  const merged = Array.from(byKey.values(), (all) => ({ ...(all[0] as FileUpdate), ...mergeUpdates(null, all) }));
  const { true: hashed = [], false: detailed = [] } = Object.groupBy(
    merged,
    ({ key }) => `${key.length === SHA256_BYTES}` as const,
  );
  const [found, added, rows] = await inOrder([
    () => upsertDetails(session, detailed),
    async () => (hashed.length === 0 ? [] : session.query<[number]>(ADD, fileColumns(hashed))),
    async () => (hashed.length === 0 ? [] : session.query<FileRow>(LOCK, [hashed.map(({ key }) => key)])),
  ]);
  const isNew = new Set(added.map(([id]) => id));
  const files = new Map<ByteText, StoredFile>();
  const fileOf = ({ keyText }: FileUpdate) => files.get(keyText) as StoredFile;
  const upserted: UpsertedFiles = { fileOf, changed: 0, toFill: [], toBackfill: [] };
  const given = new Map(detailed.map((file) => [file.keyText, file]));
  for (const [id, key, wasAdded] of found) {
    const { familyId, details } = given.get(toByteText(key)) as FileColumns;
    upserted.changed += wasAdded;
    files.set(toByteText(key), { id, key, familyId, details });
  }
  for (const [id, key, familyId, ...details] of rows) {
    const keyText = toByteText(key);
    const file = mergeUpdates(isNew.has(id) ? null : { familyId, details }, byKey.get(keyText) as FileUpdate[]);
    upserted.changed += file.changed;
    files.set(keyText, { id, key, ...file });
    if (isNew.has(id) || file.changed === 0) continue;
    upserted.toFill.push({ id, key, ...file });
    if (file.familyId !== familyId) upserted.toBackfill.push(id);
  }
  return upserted;
}

type FileToAdd = FileColumns & { key: Uint8Array };

const fileColumns = (files: readonly FileToAdd[]) =>
  columns(7, files, ({ key, familyId, details }) => [key, familyId, ...details]);

async function upsertDetails(session: Session, files: readonly FileToAdd[]): Promise<DetailsRow[]> {
  if (files.length === 0) return [];
  const rows = await session.query<DetailsRow>(ADD_DETAILS, fileColumns(files));
  if (rows.length === files.length) return rows;
  // Another transaction has added some of them at the same time, and has ended.
  const isAdded = new Set(rows.filter(([, , isNew]) => isNew === 1).map(([id]) => id));
  const all = await session.query<DetailsRow>(FIND_DETAILS, [files.map(({ key }) => key)]);
  return all.map(([id, key]) => [id, key, isAdded.has(id) ? 1 : 0]);
}

const FILL = `
  update files f set family_id = t.family_id, mime_type = t.mime_type, file_type = t.file_type,
    file_ext = t.file_ext, file_size = t.file_size, file_name = t.file_name
  from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[])
    as t (id, family_id, mime_type, file_type, file_ext, file_size, file_name)
  where f.id = t.id`;

const NOTE_BACKFILLS = `
  insert into family_spreads (file_id) select id from unnest($1::bigint[]) as t (id) order by id on conflict do nothing`;

/** Writes the columns that `upsertFiles` filled in. */
export function fillFiles(session: Session, { toFill, toBackfill }: UpsertedFiles): Promise<unknown> {
  return Promise.all([
    runRows(session, FILL, toFill, ({ id, familyId, details }) => [id, familyId, ...details]),
    toBackfill.length > 0 && session.run(NOTE_BACKFILLS, [toBackfill]),
  ]);
}

/** Applies one or more updates in their order; null: the first one adds the file. */
function mergeUpdates(stored: FileColumns | null, updates: readonly FileUpdate[]): FileColumns & { changed: number } {
  let file = stored;
  let changed = 0;
  for (const { given } of updates) {
    const { isChanged, ...filled } = file === null ? { ...given, isChanged: true } : fillFile(file, given);
    file = filled;
    if (isChanged) changed++;
  }
  return { ...(file as FileColumns), changed };
}

/** Fills in details of files in one transaction; returns how many reports changed a file. */
export function createApplyFiles(db: Database, backfillFamilies: () => Promise<void>) {
  return async (files: readonly FileReport[]): Promise<number> => {
    if (files.length === 0) return 0;
    const names = new Set(files.map(({ family }) => family).filter((name) => name !== null));
    const changed = await db.transaction(async (session) => {
      const lock = createLock();
      const { families } = await lock({ families: () => familyIds(session, names, foldFamily) });
      const updates = files.map((file) => fileUpdate(file, families));
      const { files: upserted } = await lock({ files: () => upsertFiles(session, updates) });
      await Promise.all([
        fillFiles(session, upserted),
        upserted.changed > 0 && putChanges(session, createChangeRecorder()),
      ]);
      return upserted.changed;
    });
    await backfillFamilies();
    return changed;
  };
}

/** Payloads read in one transaction. */
const CHUNK_ROWS = 5_000;

type PayloadPlace = [ts: number, urlId: number];

const NEXT_FILE = 'select file_id from family_spreads limit 1';

// One transaction per file at a time: two that update the same payloads would wait for each other's rows.
const LOCK_BACKFILL = `
  select f.family_id from family_spreads s join files f on f.id = s.file_id where s.file_id = $1 for update of s`;

const PAYLOADS_OF_FILE = `
  select p.ts, p.url_id from payloads p
  where p.file_id = $1 and (p.ts, p.url_id) > ($2, $3) order by p.ts, p.url_id limit ${CHUNK_ROWS}`;

const SET_FAMILY = `
  with set_now as (
    update payloads set family_id = (select family_id from files where id = $1)
    where file_id = $1 and (ts, url_id) > ($2, $3) and (ts, url_id) <= ($4, $5) and family_id is null
    returning url_id, ts, file_id)
  ${putChangesOf('update', 'url', 'u.id', 'from set_now s join urls u on u.id = s.url_id and u.payload_ts = s.ts and u.payload_file_id = s.file_id')}`;

const BACKFILL_DONE = 'delete from family_spreads where file_id = $1';

/**
 * Sets the family of a file, once it is known, in the payloads stored before. One file may have a hundred thousand
 * payloads, so each chunk is a transaction. If the process ends before the last one, the row in `family_spreads` stays
 * and the next batch continues.
 */
export function createBackfillFamilies(db: Database) {
  return async (): Promise<void> => {
    for (;;) {
      const [file] = await db.query<[fileId: number]>(NEXT_FILE);
      if (file === undefined) return;
      for (let after: PayloadPlace | null = [-1, 0]; after !== null; ) {
        const from: PayloadPlace = after;
        after = await db.transaction((session) => backfillChunk(session, file[0], from));
      }
    }
  };
}

/** Returns the last payload of the chunk; null when the backfill is complete, here or in another process. */
async function backfillChunk(
  session: Session,
  fileId: number,
  [afterTs, afterUrlId]: PayloadPlace,
): Promise<PayloadPlace | null> {
  const [noted] = await session.query<[familyId: number]>(LOCK_BACKFILL, [fileId]);
  if (noted === undefined) return null;
  const payloads = await session.query<PayloadPlace>(PAYLOADS_OF_FILE, [fileId, afterTs, afterUrlId]);
  const last = payloads.at(-1);
  if (last !== undefined) {
    const urlIds = [...new Set(payloads.map(([, urlId]) => urlId))];
    // A batch that adds a bare payload to one of them must see the family.
    await createLock()({ urls: () => session.query(LOCK_URLS_BY_ID, [urlIds]) });
    await inOrder([
      () => session.run(SET_FAMILY, [fileId, afterTs, afterUrlId, ...last]),
      () =>
        deleteBare(
          session,
          urlIds.map((urlId) => [urlId, noted[0]]),
        ),
      () => correctLast(session, urlIds, []),
      () => putChanges(session, createChangeRecorder()),
    ]);
  }
  if (last !== undefined && payloads.length === CHUNK_ROWS) return last;
  await session.run(BACKFILL_DONE, [fileId]);
  return null;
}
