import type { Database } from '../../database/sqlite/database.ts';
import type { DetailColumns } from '../file-rules.ts';
import { FIRST_HIDDEN_KIND } from '../stored-timeline.ts';
import { type EventTail, eventTail, flatten, type Json, NULL, type PayloadTail, payloadTail, toJson } from '../wire.ts';

/** Texts of a dictionary by id, as JSON. They never change, so that the answers need no join for them. */
export type TextCache = (id: number) => Json;

/** Reporters and reasons are some hundreds; what goes beyond this is read again. */
const MAX_TEXTS = 10_000;

export function createTextCache(db: Database, table: string, column: string): TextCache {
  const find = db.prepare<[string]>(`select ${column} from ${table} where id = ?`);
  const names = new Map<number, Json>();
  return (id) => {
    const known = names.get(id);
    if (known !== undefined) return known;
    const name = toJson((find.get(id) as [string])[0]);
    if (names.size >= MAX_TEXTS) names.clear();
    names.set(id, name);
    return name;
  };
}

/** Reporters, kinds and the few reasons make some thousand; what goes beyond is made again. */
const MAX_TAILS = 10_000;

/** Of the numbers for reason and kind; one that is greater is made each time. */
const MOST = 4096;

/** What events say behind their time, remembered: most of a history says one of few things. */
export function createEventCache(db: Database): (removalAndKind: number, reporterId: number) => EventTail {
  const removals = createTextCache(db, 'removals', 'reason');
  const reporters = createTextCache(db, 'reporters', 'name');
  const tails = new Map<number, EventTail>();

  function make(removalAndKind: number, reporterId: number): EventTail {
    const kind = removalAndKind % FIRST_HIDDEN_KIND;
    return eventTail(kind, removals((removalAndKind - kind) / FIRST_HIDDEN_KIND), reporters(reporterId));
  }

  return (removalAndKind, reporterId) => {
    if (removalAndKind >= MOST) return make(removalAndKind, reporterId);
    const key = reporterId * MOST + removalAndKind;
    const known = tails.get(key);
    if (known !== undefined) return known;
    const tail = flatten(make(removalAndKind, reporterId));
    if (tails.size >= MAX_TAILS) tails.clear();
    tails.set(key, tail);
    return tail;
  };
}

/** What payloads tell of files, by id of file and family, as it is in the state of the database that is read now. */
export type FileCache = {
  /** Before files of another turn are asked for: what anybody wrote since is then seen. */
  renew(): void;
  tailOf(id: number, familyId: number | null): PayloadTail;
  /** The same for a payload with details of its own, which win over what is known of the file. */
  ownTailOf(id: number, familyId: number | null, own: DetailColumns): PayloadTail;
};

/**
 * As many files, about 10 MB. A file has one place, by its id, and takes it from whoever was there: ids are given one
 * after another, so that few meet. A Map costs two more visits to memory that is in no cache, 15 µs in a history.
 */
const PLACES = 2 ** 15;

const NOBODY = 0;
const NO_FAMILY = 0;
const NO_DETAILS: DetailColumns = [null, null, null, null, null];

// A file without a hash is known by a shorter key.
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
 * Details are filled in when somebody tells them, also by other processes. So all are forgotten as soon as the database
 * was changed by whomever (https://www.sqlite.org/pragma.html#pragma_data_version), which costs a microsecond to ask.
 */
export function createFileCache(db: Database): FileCache {
  const file = db.prepare<FileRow>(FILE);
  const version = db.prepare<[number]>('pragma data_version');
  const families = createTextCache(db, 'families', 'name');
  /** Id of file and of family by turns, so that one visit to memory tells both. */
  const known = new Float64Array(2 * PLACES);
  const tails: PayloadTail[] = new Array(PLACES).fill('');
  let readVersion: number | undefined;

  function ownTailOf(id: number, familyId: number | null, own: DetailColumns): PayloadTail {
    const [mimeType, fileType, fileExt, fileSize, fileName, sha256] = file.get(id) as FileRow;
    const told = {
      mimeType: own[0] ?? mimeType,
      fileType: own[1] ?? fileType,
      fileExt: own[2] ?? fileExt,
      fileSize: own[3] ?? fileSize,
      fileName: own[4] ?? fileName,
      sha256,
    };
    return payloadTail(told, familyId === null ? NULL : families(familyId));
  }

  return {
    renew() {
      const current = version.get()?.[0];
      if (current !== readVersion) known.fill(NOBODY);
      readVersion = current;
    },

    tailOf(id, familyId) {
      const place = id % PLACES;
      const family = familyId ?? NO_FAMILY;
      if (known[2 * place] === id && known[2 * place + 1] === family) return tails[place] as PayloadTail;
      const tail = flatten(ownTailOf(id, familyId, NO_DETAILS));
      known[2 * place] = id;
      known[2 * place + 1] = family;
      tails[place] = tail;
      return tail;
    },

    ownTailOf,
  };
}
