import type { ChangeRecorder } from '../../database/changes.ts';
import type { Scalar } from '../../database/postgres/array-literal.ts';
import type { Session } from '../../database/postgres/database.ts';
import { asGiven, runRows, unnested } from '../../database/postgres/parameters.ts';
import { type DetailColumns, isBare, isNewerPayload, ownDetails, type ServedFile } from '../file-rules.ts';
import { addBare, correctLast, deleteBare } from './bare-payloads.ts';
import { type FileUpdate, fileUpdate, type UpsertedFiles } from './files.ts';
import type { BatchUrl, LockedBatch } from './locked-batch.ts';

/** A payload of a URL whose row is locked, or is added by this transaction. */
type UrlPayload = { url: BatchUrl; ts: number; file: FileUpdate; isBare: boolean; hasHash: boolean };

/** The payloads of a batch. Those with nothing but a family have one `FileUpdate` for each family. */
export function urlPayloads({ urls, families }: LockedBatch): UrlPayload[] {
  const bareFiles = new Map<string, FileUpdate>();
  const payloads: UrlPayload[] = [];
  for (const url of urls) {
    for (const payload of url.group.payloads) {
      const { ts, family, sha256 } = payload;
      const bare = isBare(payload);
      const file = (bare && bareFiles.get(family as string)) || fileUpdate(payload, families);
      if (bare) bareFiles.set(family as string, file);
      payloads.push({ url, ts, file, isBare: bare, hasHash: sha256 !== null });
    }
  }
  return payloads;
}

type Row = {
  urlId: number;
  isNewUrl: boolean;
  ts: number;
  fileId: number;
  familyId: number | null;
  own: DetailColumns;
  isBare: boolean;
};

// For URLs that this transaction adds.
const ADD = `
  insert into payloads (url_id, ts, file_id, family_id, mime_type, file_type, file_ext, file_size, file_name)
  select ${unnested('bigint', 'bigint', 'bigint', 'bigint', 'text', 'text', 'text', 'bigint', 'text')}`;

// The first details given for a payload stay.
const PUT = `${ADD} on conflict do nothing`;

const ADD_BARE = `
  insert into payloads (url_id, ts, file_id, family_id)
  select ${unnested('bigint', 'bigint', 'bigint', 'bigint')}`;

const SET_LAST = `
  update urls set payload_ts = l.ts, payload_file_id = l.file_id
  from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as l (id, ts, file_id) where urls.id = l.id`;

/** What `putPayloads` writes. */
type PayloadChanges = {
  rows: Row[];
  /** The last payloads of URLs that get another one. */
  last: Map<number, { ts: number; fileId: number; isNewUrl: boolean }>;
  /** Of payloads with a file: the URL had payloads before, some of them perhaps bare and of the same family. */
  toDelete: [urlId: number, familyId: number][];
};

/** The last payload of a URL before the batch. */
type LastOf = (urlId: number) => ServedFile | null;

const FIND_KEYS = 'select id, file_key from files where id = any($1::bigint[])';

/** Reads the last payloads of the URLs that get more. */
export async function readLast(session: Session, payloads: readonly UrlPayload[]): Promise<LastOf> {
  const urls = new Set<BatchUrl>();
  for (const { url } of payloads) if (url.payloadFileId !== null) urls.add(url);
  if (urls.size === 0) return () => null;
  const fileIds = new Set(Array.from(urls, ({ payloadFileId }) => payloadFileId as number));
  const keys = new Map(await session.query<[id: number, key: Uint8Array]>(FIND_KEYS, [[...fileIds]]));
  const last = new Map<number, ServedFile>();
  for (const { id, payloadTs, payloadFileId } of urls) {
    const key = keys.get(payloadFileId as number);
    if (payloadTs !== null && key !== undefined) last.set(id, { ts: payloadTs, key });
  }
  return (urlId) => last.get(urlId) ?? null;
}

export function payloadChanges(payloads: readonly UrlPayload[], files: UpsertedFiles, lastOf: LastOf): PayloadChanges {
  const rows = new Map<string, Row>();
  const last = new Map<number, ServedFile & { fileId: number; isNewUrl: boolean }>();
  /** Of payloads with a file, by URL and family. */
  const withFile = new Map<string, [urlId: number, familyId: number]>();
  for (const { url, ts, file, isBare, hasHash } of payloads) {
    const { id: urlId, isNew: isNewUrl } = url;
    const { id: fileId, key, familyId, details } = files.fileOf(file);
    const place = `${urlId} ${ts} ${fileId}`;
    if (!rows.has(place)) {
      const own = isBare ? NO_DETAILS : ownDetails(file.given.details, details);
      const servedFamilyId = file.given.familyId ?? familyId;
      rows.set(place, { urlId, isNewUrl, ts, fileId, familyId: servedFamilyId, own, isBare });
      if (hasHash && servedFamilyId !== null) withFile.set(`${urlId} ${servedFamilyId}`, [urlId, servedFamilyId]);
    }
    if (isNewerPayload({ ts, key }, last.get(urlId) ?? lastOf(urlId))) last.set(urlId, { ts, key, fileId, isNewUrl });
  }
  const toDelete = [...withFile.values()].filter(([urlId]) => lastOf(urlId) !== null);
  return { rows: [...rows.values()], last, toDelete };
}

const NO_DETAILS: DetailColumns = [null, null, null, null, null];

type PutOptions = {
  lastOf: LastOf;
  recorder: Pick<ChangeRecorder, 'url'>;
};

/**
 * Writes payloads; returns how many were new. The row of a new URL is added with its last payload, before this. Which last
 * ones change is recorded before its first `await`.
 */
export async function putPayloads(
  session: Session,
  { rows, last, toDelete }: PayloadChanges,
  { lastOf, recorder }: PutOptions,
): Promise<number> {
  if (rows.length === 0) return 0;
  /** URLs with a payload that is not bare. */
  const given = new Set<number>();
  for (const { urlId, isBare } of rows) if (!isBare) given.add(urlId);
  /** Bare payloads of new URLs that have no other ones, and all other bare ones. */
  const [only, bare]: [Row[], Row[]] = [[], []];
  const [ofNewUrls, ofKnownUrls]: [Row[], Row[]] = [[], []];
  for (const row of rows) {
    if (!row.isBare) (row.isNewUrl ? ofNewUrls : ofKnownUrls).push(row);
    else (row.isNewUrl && !given.has(row.urlId) ? only : bare).push(row);
  }
  const changedLast: Scalar[][] = [];
  for (const [urlId, { ts, fileId, isNewUrl }] of last) {
    if (isNewUrl) continue;
    changedLast.push([urlId, ts, fileId]);
    recorder.url(urlId, 'update');
  }
  const checked = bare.filter(({ urlId }) => given.has(urlId) || lastOf(urlId) !== null);
  const corrected = new Set([...toDelete.map(([urlId]) => urlId), ...checked.map(({ urlId }) => urlId)]);
  const added = checked.filter(({ isNewUrl }) => isNewUrl).map(({ urlId }) => urlId);
  // In this order, which the server keeps: a bare payload is added only if no other one makes it unnecessary.
  const [countOfNewUrls, countOfKnownUrls, countOfOnly, countOfBare] = await Promise.all([
    runRows(session, ADD, ofNewUrls, toRow),
    runRows(session, PUT, ofKnownUrls, toRow),
    runRows(session, ADD_BARE, only, toBareRow),
    addBare(session, bare),
    runRows(session, SET_LAST, changedLast, asGiven),
    deleteBare(session, toDelete),
    correctLast(session, [...corrected], added),
  ]);
  return countOfNewUrls + countOfKnownUrls + countOfOnly + countOfBare;
}

function toRow({ urlId, ts, fileId, familyId, own }: Row): Scalar[] {
  return [urlId, ts, fileId, familyId, ...own];
}

function toBareRow({ urlId, ts, fileId, familyId }: Row): Scalar[] {
  return [urlId, ts, fileId, familyId];
}
