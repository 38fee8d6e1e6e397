import type { ObservedPayload } from '../../core/observation.ts';
import type { ChangeRecorder } from '../../database/changes.ts';
import type { Session } from '../../database/postgres/database.ts';
import type { Ids } from '../../database/postgres/dictionaries.ts';
import { columns } from '../../database/postgres/parameters.ts';
import {
  type DetailColumns,
  detailsOf,
  fileKey,
  isBare,
  isNewerPayload,
  ownDetails,
  type ServedFile,
} from '../file-rules.ts';
import { addBare, correctLast, deleteBare } from './bare-payloads.ts';
import type { FileUpdate, UpsertedFiles } from './files.ts';

/** A payload of a URL whose row is locked. */
type UrlPayload = FileUpdate & { urlId: number; ts: number; isBare: boolean; hasHash: boolean };

export function urlPayload(urlId: number, payload: ObservedPayload, families: Ids): UrlPayload {
  const familyId = payload.family === null ? null : (families.get(payload.family) ?? null);
  return {
    ...{ urlId, ts: payload.ts, isBare: isBare(payload), hasHash: payload.sha256 !== null },
    ...{ key: fileKey(payload), given: { familyId, details: detailsOf(payload) } },
  };
}

type Row = { urlId: number; ts: number; fileId: number; familyId: number | null; own: DetailColumns; isBare: boolean };

// The first details given for a payload stay.
const ADD = `
  insert into payloads (url_id, ts, file_id, family_id, mime_type, file_type, file_ext, file_size, file_name)
  select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[],
    $5::text[], $6::text[], $7::text[], $8::bigint[], $9::text[])
  on conflict do nothing`;

const SET_LAST = `
  update urls set payload_ts = l.ts, payload_file_id = l.file_id
  from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as l (id, ts, file_id) where urls.id = l.id`;

type PutOptions = {
  /** The last payload of a URL before the batch. */
  lastOf(urlId: number): ServedFile | null;
  /** URLs that this transaction has added. */
  newUrls: ReadonlySet<number>;
  recorder: Pick<ChangeRecorder, 'url'>;
};

/** Writes payloads; returns how many were new. Records before its first `await` which last ones change. */
export async function putPayloads(
  session: Session,
  payloads: readonly UrlPayload[],
  files: UpsertedFiles,
  { lastOf, newUrls, recorder }: PutOptions,
): Promise<number> {
  if (payloads.length === 0) return 0;
  const rows = new Map<string, Row>();
  const last = new Map<number, ServedFile>();
  /** Of payloads with a file, by URL and family. */
  const withFile = new Map<string, [urlId: number, familyId: number]>();
  for (const { urlId, ts, key, given, isBare, hasHash } of payloads) {
    const { id: fileId, familyId, details } = files.fileOf(key);
    const place = `${urlId} ${ts} ${fileId}`;
    if (!rows.has(place)) {
      const own = ownDetails(given.details, details);
      const servedFamilyId = given.familyId ?? familyId;
      rows.set(place, { urlId, ts, fileId, familyId: servedFamilyId, own, isBare });
      if (hasHash && servedFamilyId !== null) withFile.set(`${urlId} ${servedFamilyId}`, [urlId, servedFamilyId]);
    }
    if (isNewerPayload({ ts, key }, last.get(urlId) ?? lastOf(urlId))) last.set(urlId, { ts, key });
  }
  const { true: bare = [], false: others = [] } = Object.groupBy(rows.values(), (row) => `${row.isBare}` as const);
  const hadPayload = (urlId: number) => lastOf(urlId) !== null;
  const given = new Set(others.map(({ urlId }) => urlId));
  const toDelete = [...withFile.values()].filter(([urlId]) => hadPayload(urlId));
  const perhapsNotAdded = bare.filter(({ urlId }) => hadPayload(urlId) || given.has(urlId));
  const corrected = new Set([...toDelete.map(([urlId]) => urlId), ...perhapsNotAdded.map(({ urlId }) => urlId)]);
  for (const urlId of last.keys()) if (!newUrls.has(urlId)) recorder.url(urlId, 'update');
  // In this order, which the server keeps: a bare payload is added only if no other one makes it unnecessary.
  const [added, addedBare] = await Promise.all([
    others.length === 0
      ? 0
      : session.run(
          ADD,
          columns(9, others, ({ urlId, ts, fileId, familyId, own }) => [urlId, ts, fileId, familyId, ...own]),
        ),
    addBare(session, bare),
    last.size > 0 &&
      session.run(
        SET_LAST,
        columns(3, [...last], ([urlId, { ts, key }]) => [urlId, ts, files.fileOf(key).id]),
      ),
    deleteBare(session, toDelete),
    correctLast(session, [...corrected], newUrls),
  ]);
  return added + addedBare;
}
