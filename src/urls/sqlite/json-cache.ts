import { cached } from '../../core/cached.ts';
import { flatText } from '../../core/text.ts';
import type { Database, Reader } from '../../database/sqlite/database.ts';
import type { DetailColumns } from '../file-rules.ts';
import { FIRST_HIDDEN_KIND } from '../store.ts';
import { type EventTail, eventTail, type Json, NULL, type PayloadTail, payloadTail, toJson } from '../wire.ts';

/** The texts of a dictionary by id, as JSON. They never change, so that lookups need no join for them. */
type TextCache = (id: number) => Json;

/** There are some hundreds of reporters and reasons. */
const MAX_TEXTS = 10_000;

export function createTextCache(db: Database, table: string, column: string): TextCache {
  const find = db.prepare<[string]>(`select ${column} from ${table} where id = ?`);
  return cached(MAX_TEXTS, (id) => toJson(find.one(id)[0]));
}

/** There are some thousands of combinations of reporter, kind and reason. */
const MAX_TAILS = 10_000;

/** Numbers for reason and kind below this one are cached. */
const MAX_REMOVAL_AND_KIND = 4096;

/** Caches the JSON of events after their time: most events of a history share few of them. */
export function createEventCache(db: Database): (removalAndKind: number, reporterId: number) => EventTail {
  const removals = createTextCache(db, 'removals', 'reason');
  const reporters = createTextCache(db, 'reporters', 'name');

  function create(removalAndKind: number, reporterId: number): EventTail {
    const kind = removalAndKind % FIRST_HIDDEN_KIND;
    return eventTail(kind, removals((removalAndKind - kind) / FIRST_HIDDEN_KIND), reporters(reporterId));
  }

  const cachedTail = cached(MAX_TAILS, (key: number) => {
    const removalAndKind = key % MAX_REMOVAL_AND_KIND;
    return flatText(create(removalAndKind, (key - removalAndKind) / MAX_REMOVAL_AND_KIND));
  });

  return (removalAndKind, reporterId) =>
    removalAndKind < MAX_REMOVAL_AND_KIND
      ? cachedTail(reporterId * MAX_REMOVAL_AND_KIND + removalAndKind)
      : create(removalAndKind, reporterId);
}

/** The JSON of payloads after their time, by id of file and family, as of the current read transaction. */
type FileCache = {
  /** To be called first in each read transaction: drops cached files if the database has changed. */
  renew(): void;
  /** `ownDetails`: those of the payload, as JSON, which win over those of the file; null if it has none. */
  tailOf(id: number, familyId: number | null, ownDetails: string | null): PayloadTail;
};

/**
 * The number of cached files, about 10 MB. A direct-mapped cache: the id of a file determines its slot. Ids are
 * consecutive, so that few files share a slot. A Map costs two more cache misses of the processor, 15 µs in a history.
 */
const SLOTS = 2 ** 15;

const EMPTY_SLOT = 0;
const NO_FAMILY = 0;
const NO_DETAILS: DetailColumns = [null, null, null, null, null];

// The key of a file without a SHA-256 is shorter than 32 bytes.
const FILE = `
  select mime_type, file_type, file_ext, file_size, file_name,
    case when length(file_key) = 32 then lower(hex(file_key)) end
  from files where id = ?`;

type FileRow = [
  mimeType: string | null,
  fileType: string | null,
  fileExt: string | null,
  fileSize: number | null,
  fileName: string | null,
  sha256: string | null,
];

/**
 * Imports fill in the details of files, also imports of other processes. So the cache is dropped whenever another
 * connection has changed the database.
 */
export function createFileCache(db: Reader): FileCache {
  const file = db.prepare<FileRow>(FILE);
  const families = createTextCache(db, 'families', 'name');
  /** The ids of file and family of each slot, side by side, so that one memory access reads both. */
  const ids = new Float64Array(2 * SLOTS);
  const tails: PayloadTail[] = new Array(SLOTS).fill('');
  let readVersion: number | undefined;

  function create(id: number, familyId: number | null, own: DetailColumns): PayloadTail {
    const [mimeType, fileType, fileExt, fileSize, fileName, sha256] = file.one(id);
    const details = {
      mimeType: own[0] ?? mimeType,
      fileType: own[1] ?? fileType,
      fileExt: own[2] ?? fileExt,
      fileSize: own[3] ?? fileSize,
      fileName: own[4] ?? fileName,
      sha256,
    };
    return payloadTail(details, familyId === null ? NULL : families(familyId));
  }

  return {
    renew() {
      const current = db.version();
      if (current !== readVersion) ids.fill(EMPTY_SLOT);
      readVersion = current;
    },

    tailOf(id, familyId, ownDetails) {
      if (ownDetails !== null) return create(id, familyId, JSON.parse(ownDetails));
      const slot = id % SLOTS;
      const family = familyId ?? NO_FAMILY;
      if (ids[2 * slot] === id && ids[2 * slot + 1] === family) return tails[slot] as PayloadTail;
      const tail = flatText(create(id, familyId, NO_DETAILS));
      ids[2 * slot] = id;
      ids[2 * slot + 1] = family;
      tails[slot] = tail;
      return tail;
    },
  };
}
