import { type Details, fillFile, type KnownFile } from '../known-file.ts';
import { columns } from './columns.ts';
import type { Session } from './database.ts';

/** Somebody told of a file. */
export type Telling = { key: Uint8Array; told: KnownFile };

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
export async function knowFiles(session: Session, tellings: readonly Telling[]): Promise<KnownFiles> {
  const byKey = Map.groupBy(tellings, ({ key }) => textOf(key));
  const merged = Array.from(byKey.values(), (all) => ({ key: (all[0] as Telling).key, ...tellAll(NOTHING, all) }));
  const [added, rows] = await Promise.all([
    session.query<[number]>(
      ADD,
      columns(7, merged, ({ key, familyId, details }) => [key, familyId, ...details]),
    ),
    session.query<FileRow>(LOCK, [merged.map(({ key }) => key)]),
  ]);
  const isNew = new Set(added.map(([id]) => id));
  const files = new Map<string, KnownFile & { id: number }>();
  const known: KnownFiles = { of: (key) => files.get(textOf(key)) as never, changed: 0, toFill: [], toSpread: [] };
  for (const [id, key, familyId, ...details] of rows) {
    const told = byKey.get(textOf(key)) ?? [];
    const file = tellAll(isNew.has(id) ? NOTHING : { familyId, details }, told);
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
function tellAll(known: KnownFile, tellings: readonly Telling[]): KnownFile & { changed: number } {
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
