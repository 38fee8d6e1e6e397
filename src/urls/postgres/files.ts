import type { FileReport } from '../../core/observation.ts';
import { foldFamily } from '../../core/text.ts';
import type { Database, Session } from '../../database/postgres/database.ts';
import { columns } from '../../database/postgres/parameters.ts';
import { type Details, detailsOf, fileKey, fillFile, type KnownFile } from '../file-rules.ts';
import { familyIds } from './dictionaries.ts';
import { createLock, inOrder } from './lock-order.ts';

/** Somebody told of a file. */
export type FileUpdate = { key: Uint8Array; told: KnownFile };

/** Files as they are known after all tellings of a batch, and what of that is to be written. */
export type KnownFiles = {
  of(key: Uint8Array): KnownFile & { id: number };
  /** How many tellings had something new. */
  changed: number;
  toFill: (KnownFile & { id: number })[];
  /** Those whose family became known. */
  toSpread: number[];
};

type FileRow = [id: number, key: Uint8Array, familyId: number | null, ...Details];

const NOTHING: KnownFile = { familyId: null, details: [null, null, null, null, null] };

const COLUMNS = 'file_key, family_id, mime_type, file_type, file_ext, file_size, file_name';

const ADD = `
  insert into files (${COLUMNS})
  select * from unnest($1::bytea[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[])
    as t (${COLUMNS})
  where not exists (select 1 from files f where f.file_key = t.file_key)
  order by t.file_key on conflict do nothing returning id`;

const LOCK = `select id, ${COLUMNS} from files where file_key = any($1::bytea[]) order by file_key for update`;

const FILL = `
  update files f set family_id = t.family_id, mime_type = t.mime_type, file_type = t.file_type,
    file_ext = t.file_ext, file_size = t.file_size, file_name = t.file_name
  from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[])
    as t (id, family_id, mime_type, file_type, file_ext, file_size, file_name)
  where f.id = t.id`;

const NOTE_SPREADS = `
  insert into family_spreads (file_id) select id from unnest($1::bigint[]) as t (id) order by id on conflict do nothing`;

/** Adds the files that are new with all that is told of them, and locks and completes the others. */
export async function upsertFiles(session: Session, tellings: readonly FileUpdate[]): Promise<KnownFiles> {
  const byKey = Map.groupBy(tellings, ({ key }) => textOf(key));
  const merged = Array.from(byKey.values(), (all) => ({
    key: (all[0] as FileUpdate).key,
    ...mergeUpdates(NOTHING, all),
  }));
  const [added, rows] = await inOrder([
    () =>
      session.query<[number]>(
        ADD,
        columns(7, merged, ({ key, familyId, details }) => [key, familyId, ...details]),
      ),
    () => session.query<FileRow>(LOCK, [merged.map(({ key }) => key)]),
  ]);
  const isNew = new Set(added.map(([id]) => id));
  const files = new Map<string, KnownFile & { id: number }>();
  const known: KnownFiles = { of: (key) => files.get(textOf(key)) as never, changed: 0, toFill: [], toSpread: [] };
  for (const [id, key, familyId, ...details] of rows) {
    const told = byKey.get(textOf(key)) ?? [];
    const file = mergeUpdates(isNew.has(id) ? NOTHING : { familyId, details }, told);
    // To be told of the first time is a change, even where no detail came with it.
    known.changed += isNew.has(id) ? Math.max(file.changed, 1) : file.changed;
    files.set(textOf(key), { id, ...file });
    if (isNew.has(id) || file.changed === 0) continue;
    known.toFill.push({ id, ...file });
    if (file.familyId !== familyId) known.toSpread.push(id);
  }
  return known;
}

/** Writes what was filled in. */
export function fillFiles(session: Session, { toFill, toSpread }: KnownFiles): Promise<unknown> {
  return Promise.all([
    toFill.length > 0 &&
      session.run(
        FILL,
        columns(7, toFill, ({ id, familyId, details }) => [id, familyId, ...details]),
      ),
    toSpread.length > 0 && session.run(NOTE_SPREADS, [toSpread]),
  ]);
}

/** In their order; `changed`: how many had something new. */
function mergeUpdates(known: KnownFile, tellings: readonly FileUpdate[]): KnownFile & { changed: number } {
  let { familyId, details } = known;
  let changed = 0;
  for (const { told } of tellings) {
    const filled = fillFile({ familyId, details }, told);
    ({ familyId, details } = filled);
    if (filled.isChanged) changed++;
  }
  return { familyId, details, changed };
}

function textOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1');
}

/** Fills in details of files in one transaction; returns how many files changed. */
export function createApplyFiles(db: Database, spreadFamilies: () => Promise<void>) {
  return async (files: readonly FileReport[]): Promise<number> => {
    if (files.length === 0) return 0;
    const names = new Set(files.map(({ family }) => family).filter((name) => name !== null));
    const changed = await db.transaction(async (session) => {
      const lock = createLock();
      const { families } = await lock({ families: () => familyIds(session, names, foldFamily) });
      const tellings = files.map((file) => {
        const familyId = file.family === null ? null : (families.get(file.family) ?? null);
        return { key: fileKey(file), told: { familyId, details: detailsOf(file) } };
      });
      const { files: known } = await lock({ files: () => upsertFiles(session, tellings) });
      await fillFiles(session, known);
      return known.changed;
    });
    await spreadFamilies();
    return changed;
  };
}

/** Payloads looked at in one transaction. */
const CHUNK = 5_000;

type Place = [ts: number, urlId: number];

const NEXT_FILE = 'select file_id from family_spreads limit 1';

// One at a time, so that two that spread the same family do not wait for each other's rows.
const LOCK_NOTE = 'select 1 from family_spreads where file_id = $1 for update';

const CHUNK_OF_FILE = `
  select p.ts, p.url_id from payloads p
  where p.file_id = $1 and (p.ts, p.url_id) > ($2, $3) order by p.ts, p.url_id limit ${CHUNK}`;

const SET_FAMILY = `
  update payloads set family_id = (select family_id from files where id = $1)
  where file_id = $1 and (ts, url_id) > ($2, $3) and (ts, url_id) <= ($4, $5) and family_id is null`;

const SPREAD_DONE = 'delete from family_spreads where file_id = $1';

/**
 * Gives a family that became known for a file to the payloads stored before. One hash may have a hundred thousand, so
 * it is done chunk by chunk; a process that ends half way leaves the note, and the next batch goes on.
 */
export function createSpreadFamilies(db: Database) {
  return async (): Promise<void> => {
    for (;;) {
      const [file] = await db.query<[fileId: number]>(NEXT_FILE);
      if (file === undefined) return;
      for (let after: Place | null = [-1, 0]; after !== null; ) {
        const from: Place = after;
        after = await db.transaction((session) => spreadChunk(session, file[0], from));
      }
    }
  };
}

/** From where the next chunk goes on; null when all is done, by whomever. */
async function spreadChunk(session: Session, fileId: number, [afterTs, afterUrlId]: Place): Promise<Place | null> {
  const note = await session.query(LOCK_NOTE, [fileId]);
  if (note.length === 0) return null;
  const places = await session.query<Place>(CHUNK_OF_FILE, [fileId, afterTs, afterUrlId]);
  const last = places.at(-1);
  if (last !== undefined) await session.run(SET_FAMILY, [fileId, afterTs, afterUrlId, ...last]);
  if (last !== undefined && places.length === CHUNK) return last;
  await session.run(SPREAD_DONE, [fileId]);
  return null;
}
