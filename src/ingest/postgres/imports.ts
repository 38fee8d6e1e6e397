import { PAGE_ROWS, pageOf, readPages } from '../../database/pages.ts';
import type { Database } from '../../database/postgres/database.ts';
import { withoutNul } from '../../database/postgres/parameters.ts';
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
import { type ImportStore, NO_COUNTS, type Reject } from '../store.ts';

const IMPORTS = `select ${IMPORT_COLUMNS} from imports`;

const REJECTS = `
  select ${REJECT_COLUMNS} from rejects
  where import_id = $1 and number > $2 order by number limit ${PAGE_ROWS}`;

const ADD_IMPORT = `
  insert into imports (format, feed, source, started_ts, counts) values ($1, $2, $3, $4, $5) returning id`;

/** Two concurrent imports do not see each other: one row too many stays until the next import. */
const REMOVE_OLD_IMPORTS = `
  with old as (
    delete from imports where id in (select id from imports where feed = $1 order by id desc offset ${IMPORTS_KEPT})
      and (finished_ts is not null or coalesce(heartbeat_ts, started_ts) < $2)
    returning id
  )
  delete from rejects where import_id in (select id from old)`;

/** `greatest`: two calls of an import may arrive in any order. */
const HEARTBEAT = `
  update imports set heartbeat_ts = $2, counts = $3, writes = greatest(writes, $4) where id = $1 and writes >= $5`;

const FINISH_IMPORT = 'update imports set finished_ts = $2, outcome = $3, counts = $4, error = $5 where id = $1';

/** Imports of an older program have no times. */
const FRESHNESS = `
  select max((counts::json ->> 'newestEventTs')::bigint), max((counts::json ->> 'confirmedTs')::bigint) from imports`;

const ADD_REJECTS = `
  insert into rejects (import_id, ${REJECT_COLUMNS})
  select $1, $2 + added.number, line, reason, text
  from unnest($3::bigint[], $4::text[], $5::text[]) with ordinality as added (line, reason, text, number)
  on conflict do nothing`;

/** Imports and their rejected rows in PostgreSQL, shared by all nodes. */
export function createImportStore(db: Database): ImportStore {
  return {
    importStarted: ({ format, feed, source, startedTs }) =>
      db.transaction(async (session) => {
        const start = [format, feed, withoutNul(source), startedTs, JSON.stringify(NO_COUNTS)];
        const [[id]] = (await session.query<[id: number]>(ADD_IMPORT, start)) as [[number]];
        await session.run(REMOVE_OLD_IMPORTS, [feed, startedTs - INTERRUPTED_SECONDS]);
        return id;
      }),

    async importRunning(id, { heartbeatTs, counts, writes, recordedWrites }) {
      const heartbeat = [id, heartbeatTs, JSON.stringify(counts), writes, recordedWrites];
      return (await db.run(HEARTBEAT, heartbeat)) === 1;
    },

    async importFinished(id, { finishedTs, outcome, counts, error }) {
      await db.run(FINISH_IMPORT, [id, finishedTs, outcome, JSON.stringify(counts), withoutNul(error)]);
    },

    async addRejects(id, earlier, rejects) {
      const lines = rejects.map(({ line }) => line);
      const reasons = rejects.map(({ reason }) => withoutNul(reason));
      const texts = rejects.map(({ text }) => withoutNul(text));
      await db.run(ADD_REJECTS, [id, earlier, lines, reasons, texts]);
    },

    async imports({ feed, limit }) {
      const rows =
        feed === undefined
          ? db.query<ImportRow>(`${IMPORTS} order by id desc limit $1`, [limit])
          : db.query<ImportRow>(`${IMPORTS} where feed = $1 order by id desc limit $2`, [feed, limit]);
      return (await rows).map(toImport);
    },

    async import(id) {
      const [row] = await db.query<ImportRow>(`${IMPORTS} where id = $1`, [id]);
      return row === undefined ? null : toImport(row);
    },

    async freshness() {
      const rows = await db.query<[newestEventTs: number | null, confirmedTs: number | null]>(FRESHNESS, []);
      const [newestEventTs, confirmedTs] = rows[0] ?? [null, null];
      return { newestEventTs, confirmedTs };
    },

    rejects(importId) {
      return readPages<Reject, number>(0, {}, async (after) =>
        pageOf(await db.query<RejectRow>(REJECTS, [importId, after]), toReject, ([number]) => number),
      );
    },
  };
}
