import type { Observation, ObservedPayload, StatusObservation } from '../../src/core/observation.ts';
import { foldFamily } from '../../src/core/text.ts';
import { dayOf } from '../../src/core/time.ts';
import { type Database, openWriter } from '../../src/database/sqlite/database.ts';
import { prepareDatabaseFile } from '../../src/database/sqlite/database-file.ts';
import { fileKey } from '../../src/urls/file-rules.ts';
import { bucketOf } from '../../src/urls/store.ts';
import { ENTRY_KINDS } from '../../src/urls/stored-timeline.ts';
import { advance } from '../../src/urls/timeline.ts';
import { urlKey } from '../../src/urls/url-group.ts';

/** URLs in one transaction. */
const CHUNK = 50_000;

// Safe, because there is one writer and no reader, and an incomplete file is deleted.
const FAST =
  'pragma synchronous = off; pragma journal_mode = off; pragma cache_size = -1000000; pragma temp_store = memory';

// Not the unique ones: a host or a domain is found by its name.
const INDEXES = `
  select name, sql from sqlite_schema
  where type = 'index' and sql not like 'create unique %' and tbl_name <> 'families'`;

const URL = `insert into urls
  (id, url_key, url, host_id, event_ts, event_kind, event_removal_id, event_reporter_id, payload_ts, payload_file_id)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const EVENT = 'insert into events values (?, ?, ?, ?, ?, ?, ?)';
const FILE = `insert into files
  (id, file_key, family_id, mime_type, file_type, file_ext, file_size, file_name) values (?, ?, ?, ?, ?, ?, ?, ?)`;
const PAYLOAD = 'insert into payloads (url_id, ts, file_id, family_id) values (?, ?, ?, ?)';
const RESOLUTION = 'insert into resolutions (url_id, ip, day, ts, bucket, asn) values (?, ?, ?, ?, ?, ?)';

/**
 * Creates the same intelligence database as `store.apply`, several times faster: rows are inserted directly, indexes are
 * built at the end. It relies on properties of the generated data: each URL occurs once, with all its observations in
 * order of time; each observation has a status and the same single address; a file always has the same details. A test
 * compares the result with that of `store.apply`.
 */
export function bulkFill(path: string, urls: Iterable<Observation[]>): void {
  prepareDatabaseFile('intelligence', path);
  const db = openWriter(path);
  try {
    db.exec(FAST);
    const indexes = db.prepare<[name: string, sql: string]>(INDEXES).all();
    for (const [name] of indexes) db.exec(`drop index ${name}`);
    const add = createAdd(db);
    for (const chunk of chunksOf(urls)) db.transaction(() => chunk.forEach(add));
    for (const [, sql] of indexes) db.exec(sql);
    db.exec('pragma journal_mode = wal');
  } finally {
    db.close();
  }
}

/** Inserts one URL with all its observations. */
function createAdd(db: Database) {
  const addUrl = db.prepare(URL);
  const addEvent = db.prepare(EVENT);
  const addPayload = db.prepare(PAYLOAD);
  const addResolution = db.prepare(RESOLUTION);
  const hosts = createIds(db, 'insert into hosts (id, host) values (?, ?)');
  const reporters = createIds(db, 'insert into reporters (id, name) values (?, ?)');
  const removals = createIds(db, 'insert into removals (id, reason) values (?, ?)');
  const fileOf = createFiles(db);
  let id = 0;

  return (observations: Observation[]): void => {
    const [{ url, host }] = observations as [Observation];
    const hostId = hosts(host);
    id++;
    const entries = advance([], observations as StatusObservation[]).map(
      ({ ts, kind, removal, reporter, confirmedTs }) =>
        [ts, ENTRY_KINDS.indexOf(kind), removals(removal), reporters(reporter), confirmedTs] as const,
    );
    for (const [ts, kind, removalId, reporterId, confirmedTs] of entries) {
      addEvent.run(id, ts, kind, hostId, removalId, reporterId, confirmedTs);
    }
    let last: [ts: number, fileId: number] | [null, null] = [null, null];
    for (const { payload } of observations) {
      if (payload === null) continue;
      const file = fileOf(payload);
      addPayload.run(id, payload.ts, file.id, file.familyId);
      last = [payload.ts, file.id];
    }
    for (const [day, { ts, addresses }] of firstOfDays(observations)) {
      for (const { ip, asn } of addresses) addResolution.run(id, ip, day, ts, bucketOf(ts), asn);
    }
    const [eventTs, kind, removalId, reporterId] = entries.at(-1) as (typeof entries)[number];
    addUrl.run(id, urlKey(url), url, hostId, eventTs, kind, removalId, reporterId, ...last);
  };
}

/** A resolution is stored once per day, with its earliest time. */
function firstOfDays(observations: Observation[]): Map<number, Observation> {
  const days = new Map<number, Observation>();
  for (const observation of observations) {
    const day = dayOf(observation.ts);
    if (!days.has(day)) days.set(day, observation);
  }
  return days;
}

/** Text → id. All texts stay in memory, some hundred thousand. */
function createIds(db: Database, sql: string, derive: ((text: string) => string)[] = []): (text: string) => number {
  const add = db.prepare(sql);
  const ids = new Map<string, number>();
  return (text) => {
    const known = ids.get(text);
    if (known !== undefined) return known;
    const id = ids.size + 1;
    add.run(id, text, ...derive.map((of) => of(text)));
    ids.set(text, id);
    return id;
  };
}

function createFiles(db: Database) {
  const families = createIds(db, 'insert into families (id, name, folded) values (?, ?, ?)', [foldFamily]);
  const addFile = db.prepare(FILE);
  const files = new Map<string, { id: number; familyId: number | null }>();
  return (payload: ObservedPayload) => {
    const { sha256, mimeType, fileType, fileExt, fileSize, fileName, family } = payload;
    const known = files.get(sha256 ?? '');
    if (known !== undefined) return known;
    const file = { id: files.size + 1, familyId: family === null ? null : families(family) };
    addFile.run(file.id, fileKey(payload), file.familyId, mimeType, fileType, fileExt, fileSize, fileName);
    files.set(sha256 ?? '', file);
    return file;
  };
}

function* chunksOf<T>(items: Iterable<T>): Generator<T[]> {
  let chunk: T[] = [];
  for (const item of items) {
    chunk.push(item);
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = [];
  }
  yield chunk;
}
