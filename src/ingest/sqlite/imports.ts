import { PAGE_ROWS, pageOf, readPages } from '../../database/pages.ts';
import type { Database, Reader } from '../../database/sqlite/database.ts';
import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import { INTERRUPTED_SECONDS } from '../import-state.ts';
import {
  IMPORT_COLUMNS,
  IMPORTS_KEPT,
  type ImportRow,
  REJECT_COLUMNS,
  type RejectRow,
  toImport,
  toReject,
} from '../rows.ts';
import {
  type Freshness,
  type ImportEnd,
  type ImportHeartbeat,
  type ImportStart,
  type ImportStore,
  NO_COUNTS,
  type Reject,
} from '../store.ts';

const IMPORTS = `select ${IMPORT_COLUMNS} from imports`;

const REJECTS = `
  select ${REJECT_COLUMNS} from rejects
  where import_id = ? and number > ? order by number limit ${PAGE_ROWS}`;

/** Imports of an older program have no times. 2 µs a row. */
const FRESHNESS = `
  select max(counts ->> '$.newestEventTs'), max(counts ->> '$.confirmedTs') from imports`;

/** Imports and their rejected rows in `control.db`. */
export function createImportStore({ db, write }: DatabaseFile<ImportWrites>): ImportStore {
  const newest = db.prepare<ImportRow>(`${IMPORTS} order by id desc limit ?`);
  const newestOfFeed = db.prepare<ImportRow>(`${IMPORTS} where feed = ? order by id desc limit ?`);
  const one = db.prepare<ImportRow>(`${IMPORTS} where id = ?`);
  const rejectPage = db.prepare<RejectRow>(REJECTS);

  return {
    importStarted: (start) => write('importStarted', start),
    importRunning: (id, heartbeat) => write('importRunning', id, heartbeat),
    importFinished: (id, end) => write('importFinished', id, end),
    addRejects: (importId, earlier, rejects) => write('addRejects', importId, earlier, rejects),
    imports: async ({ feed, limit }) =>
      (feed === undefined ? newest.all(limit) : newestOfFeed.all(feed, limit)).map(toImport),
    async import(id) {
      const row = one.get(id);
      return row === undefined ? null : toImport(row);
    },
    freshness: createReadFreshness(db),
    rejects(importId) {
      return readPages<Reject, number>(0, {}, (after) =>
        pageOf(rejectPage.all(importId, after), toReject, ([number]) => number),
      );
    },
  };
}

/** Anybody may ask for it, so the rows are read again only after a write to the database. */
export function createReadFreshness(db: Reader): ImportStore['freshness'] {
  const read = db.prepare<[newestEventTs: number | null, confirmedTs: number | null]>(FRESHNESS);
  let known: { version: number; freshness: Freshness } | null = null;
  return async () => {
    const version = db.version();
    if (known?.version !== version) {
      const [newestEventTs, confirmedTs] = read.one();
      known = { version, freshness: { newestEventTs, confirmedTs } };
    }
    return known.freshness;
  };
}

const ADD_IMPORT = 'insert into imports (format, feed, source, started_ts, counts) values (?, ?, ?, ?, ?)';

/** `max`: two calls of an import may arrive in any order. */
const HEARTBEAT = `
  update imports set heartbeat_ts = :heartbeatTs, counts = :counts, writes = max(writes, :writes)
  where id = :id and writes >= :recordedWrites`;

const FINISH_IMPORT = 'update imports set finished_ts = ?, outcome = ?, counts = ?, error = ? where id = ?';

const OLD_IMPORTS = `
  select id from imports
  where id in (select id from imports where feed = ? order by id desc limit -1 offset ${IMPORTS_KEPT})
    and (finished_ts is not null or coalesce(heartbeat_ts, started_ts) < ?)`;

const ADD_REJECT = `
  insert into rejects (import_id, number, line, reason, text) values (?, ?, ?, ?, ?) on conflict do nothing`;

type ImportWrites = ReturnType<typeof createImportWrites>;

/** Write operations; they run on the writer thread of `control.db`. */
export function createImportWrites(db: Database) {
  const add = db.prepare(ADD_IMPORT);
  const heartbeat = db.prepare(HEARTBEAT);
  const finish = db.prepare(FINISH_IMPORT);
  const old = db.prepare<[id: number]>(OLD_IMPORTS);
  const remove = db.prepare('delete from imports where id = ?');
  const removeRejects = db.prepare('delete from rejects where import_id = ?');
  const addReject = db.prepare(ADD_REJECT);

  return {
    importStarted({ format, feed, source, startedTs }: ImportStart): number {
      return db.transaction(() => {
        const id = add.insert(format, feed, source, startedTs, JSON.stringify(NO_COUNTS));
        for (const [oldId] of old.all(feed, startedTs - INTERRUPTED_SECONDS)) {
          removeRejects.run(oldId);
          remove.run(oldId);
        }
        return id;
      });
    },

    importRunning(id: number, { counts, ...values }: ImportHeartbeat): boolean {
      return heartbeat.run({ id, counts: JSON.stringify(counts), ...values }) === 1;
    },

    importFinished(id: number, { finishedTs, outcome, counts, error }: ImportEnd): void {
      finish.run(finishedTs, outcome, JSON.stringify(counts), error, id);
    },

    addRejects(id: number, earlier: number, rejects: readonly Reject[]): void {
      db.batch(() => {
        for (const [i, { line, reason, text }] of rejects.entries())
          addReject.run(id, earlier + i + 1, line, reason, text);
      });
    },
  };
}
