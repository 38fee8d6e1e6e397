import type { ObservedPayload } from '../../core/observation.ts';
import type { Database } from '../../database/sqlite/database.ts';
import type { Dictionary } from '../../database/sqlite/dictionaries.ts';
import {
  detailsOf,
  type FileColumns,
  fileKey,
  isBare,
  isNewerPayload,
  ownDetails,
  type ServedFile,
} from '../file-rules.ts';
import { createBarePayloads } from './bare-payloads.ts';
import { createUpsertFile } from './files.ts';

// The first details given for a payload stay.
const ADD_PAYLOAD = `
  insert or ignore into payloads
    (url_id, ts, file_id, family_id, mime_type, file_type, file_ext, file_size, file_name)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

// Most payloads of an import are bare.
const ADD_BARE_PAYLOAD = 'insert or ignore into payloads (url_id, ts, file_id, family_id) values (?, ?, ?, ?)';

const LAST = 'select payload_ts, file_key from urls join files on files.id = payload_file_id where urls.id = ?';

const SET_LAST = 'update urls set payload_ts = ?, payload_file_id = ? where id = ?';

type StoredFile = FileColumns & { key: Uint8Array; id: number };

export type OnlyPayload = { payload: ObservedPayload; file: StoredFile };

type AddedPayload = ServedFile & { fileId: number; familyId: number | null };

/** How many payloads were new, and whether the last one is another one now. */
type AppliedPayloads = { added: number; isLastChanged: boolean };

const NOTHING: AppliedPayloads = { added: 0, isLastChanged: false };

/** Writes the payloads of one URL. `isNewUrl`: the URL has no payload yet. */
export function createApplyPayloads(db: Database, families: Dictionary) {
  const upsertFile = createUpsertFile(db);
  const addPayload = db.prepare(ADD_PAYLOAD);
  const addBarePayload = db.prepare(ADD_BARE_PAYLOAD);
  const findLast = db.prepare<[ts: number, key: Uint8Array]>(LAST);
  const setLast = db.prepare(SET_LAST);
  const bare = createBarePayloads(db);
  /** By family, in this transaction: all bare payloads of a family have one file, which takes as long as the payload. */
  const bareFiles = new Map<string, StoredFile>();

  function fileOf(payload: ObservedPayload): StoredFile {
    const key = fileKey(payload);
    const familyId = payload.family === null ? null : families.idOf(payload.family);
    return { key, ...upsertFile(key, { familyId, details: detailsOf(payload) }) };
  }

  function bareFileOf(payload: ObservedPayload): StoredFile {
    const family = payload.family ?? '';
    const file = bareFiles.get(family) ?? fileOf(payload);
    bareFiles.set(family, file);
    return file;
  }

  const storedFileOf = (payload: ObservedPayload): StoredFile =>
    isBare(payload) ? bareFileOf(payload) : fileOf(payload);

  /** Null when the payload was stored before, or is bare and not needed. `isFirst`: the URL has no payload yet. */
  function add(urlId: number, payload: ObservedPayload, isFirst: boolean, file: StoredFile): AddedPayload | null {
    const { ts, family } = payload;
    const { key } = file;
    const servedFamilyId = family === null ? file.familyId : families.idOf(family);
    if (!isFirst && servedFamilyId !== null && isBare(payload) && bare.hasFile(urlId, servedFamilyId)) return null;
    const added = isBare(payload)
      ? addBarePayload.run(urlId, ts, file.id, servedFamilyId)
      : addPayload.run(urlId, ts, file.id, servedFamilyId, ...ownDetails(detailsOf(payload), file.details));
    return added === 0 ? null : { ts, key, fileId: file.id, familyId: servedFamilyId };
  }

  function lastOf(urlId: number): ServedFile | null {
    const row = findLast.get(urlId);
    return row === undefined ? null : { ts: row[0], key: row[1] };
  }

  /** `only`: what the function of this name returned for the payloads. */
  function apply(
    urlId: number,
    payloads: readonly ObservedPayload[],
    isNewUrl: boolean,
    only: OnlyPayload | null,
  ): AppliedPayloads {
    if (payloads.length === 0) return NOTHING;
    if (isNewUrl && only !== null) {
      add(urlId, only.payload, true, only.file);
      return { added: 1, isLastChanged: true };
    }
    let count = 0;
    let newest: AddedPayload | null = null;
    /** Families of payloads with a file. */
    const withFile = new Set<number>();
    for (const payload of filesFirst(payloads)) {
      const added = add(urlId, payload, isNewUrl && count === 0, only?.file ?? storedFileOf(payload));
      if (added === null) continue;
      count++;
      if (isNewerPayload(added, newest)) newest = added;
      if (payload.sha256 !== null && added.familyId !== null) withFile.add(added.familyId);
    }
    let isLastChanged = newest !== null && isNewerPayload(newest, isNewUrl ? null : lastOf(urlId));
    if (newest !== null && isLastChanged) setLast.run(newest.ts, newest.fileId, urlId);
    if (!isNewUrl) for (const familyId of withFile) if (bare.drop(urlId, familyId)) isLastChanged = true;
    return { added: count, isLastChanged };
  }

  return {
    /** To be called at the beginning of a transaction. */
    begin: () => bareFiles.clear(),
    /** The only payload of a URL, which is inserted with a new URL as its last one; null if there are none or more. */
    only(payloads: readonly ObservedPayload[]): OnlyPayload | null {
      const [payload] = payloads;
      return payload === undefined || payloads.length > 1 ? null : { payload, file: storedFileOf(payload) };
    },
    apply,
  };
}

/** Then a new URL has no bare payload to delete. */
function filesFirst(payloads: readonly ObservedPayload[]): readonly ObservedPayload[] {
  return payloads.length < 2 ? payloads : [...payloads].sort((a, b) => Number(isBare(a)) - Number(isBare(b)));
}
