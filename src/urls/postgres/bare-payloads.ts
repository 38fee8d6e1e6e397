import { putChangesOf } from '../../database/postgres/changes.ts';
import type { Session } from '../../database/postgres/database.ts';
import { runRows } from '../../database/postgres/parameters.ts';
import { DETAILS_KEY_BYTES, MAX_TIES, SHA256_BYTES } from '../file-rules.ts';

/** Bare payloads: `isBare` in file-rules.ts. */
type BarePayload = { urlId: number; ts: number; fileId: number; familyId: number | null };

// `(select 1 … limit 1) is null` instead of `not exists`, for which PostgreSQL may read the whole table into a hash first.
const ADD = `
  insert into payloads (url_id, ts, file_id, family_id)
  select b.url_id, b.ts, b.file_id, b.family_id
  from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) as b (url_id, ts, file_id, family_id)
  where (
    select 1 from payloads p join files f on f.id = p.file_id join families m on m.id = p.family_id
    where p.url_id = b.url_id and length(f.file_key) = ${SHA256_BYTES}
      and m.folded = (select folded from families where id = b.family_id) limit 1) is null
  on conflict do nothing`;

/** Adds those of URLs without a payload that has a file and the family, in any spelling; returns how many were new. */
export function addBare(session: Session, payloads: readonly BarePayload[]): Promise<number> {
  return runRows(session, ADD, payloads, ({ urlId, ts, fileId, familyId }) => [urlId, ts, fileId, familyId]);
}

const DELETE = `
  delete from payloads d using (
    select p.url_id, p.ts, p.file_id
    from unnest($1::bigint[], $2::bigint[]) as g (url_id, family_id) cross join lateral (
      select b.url_id, b.ts, b.file_id from payloads b
      join files f on f.id = b.file_id join families m on m.id = b.family_id
      where b.url_id = g.url_id and length(f.file_key) = ${DETAILS_KEY_BYTES}
        and f.mime_type is null and f.file_type is null and f.file_ext is null and f.file_size is null
        and f.file_name is null and m.folded = (select folded from families where id = g.family_id)) p) found
  where d.url_id = found.url_id and d.ts = found.ts and d.file_id = found.file_id`;

/** To be called for URLs, whose rows are locked, that got a payload with a file and the family. */
export function deleteBare(session: Session, pairs: readonly [urlId: number, familyId: number][]): Promise<number> {
  return runRows(session, DELETE, pairs, (pair) => pair);
}

// The newest by the key of its file, as `comparePayloads` orders payloads of one second.
const SET_LAST = `
  with corrected as (
  update urls u set payload_ts = n.ts, payload_file_id = n.file_id
  from unnest($1::bigint[]) as g (id) left join lateral (
    select same.ts, same.file_id from (
      select ts, file_id from payloads
      where url_id = g.id and ts = (select max(ts) from payloads where url_id = g.id) limit ${MAX_TIES}) same
    join files f on f.id = same.file_id
    order by f.file_key desc limit 1) n on true
  where u.id = g.id and u.payload_ts is not null and (
    select 1 from payloads p where p.url_id = u.id and p.ts = u.payload_ts and p.file_id = u.payload_file_id) is null
  returning u.id)
  ${putChangesOf('update', 'url', 'id', 'from corrected where not (id = any($2::bigint[]))')}`;

/** Sets the last payload of those URLs whose last payload was deleted or not added. `added`: recorded as new ones already. */
export async function correctLast(
  session: Session,
  urlIds: readonly number[],
  added: readonly number[],
): Promise<void> {
  if (urlIds.length > 0) await session.run(SET_LAST, [urlIds, added]);
}
