import { AppError, badRequest } from '../../core/errors.ts';
import { type Range, type Row, type Table, toPlain } from '../table.ts';
import { type Database, openDatabase, type Session } from './database.ts';
import type { Param } from './parameters.ts';
import { MOVE_MARK, migrate } from './schema.ts';

/** The tables of a database that data is copied into. */
export type Tables = {
  rows(table: Table, range: Range): Promise<Row[]>;
  /** Replaces the rows of the range. */
  replace(table: Table, range: Range, rows: readonly Row[]): Promise<void>;
  /** Sets the id sequences after the greatest ids, and allows servers to start. */
  finish(tables: readonly Table[]): Promise<void>;
  close(): Promise<void>;
};

/** One for pages, which are read and written sequentially, and one that holds the lock. */
const CONNECTIONS = 2;

/** A number that no other program uses for a lock in this database: the letters of "urlm". */
const LOCK = 0x75_72_6c_6d;

// Evidence and lists have a source, facts and settings a domain.
const HAS_DATA = `
  select exists (select 1 from urls) or exists (select 1 from accounts) or exists (select 1 from feeds)
    or exists (select 1 from sources) or exists (select 1 from domains)
    or exists (select 1 from device_lists) or exists (select 1 from list_exclusions)`;

/** Accepts only an empty database, or one with an unfinished copy, so that no other data is overwritten. */
export async function openTables(url: string): Promise<Tables> {
  const db = openDatabase(url, { connections: CONNECTIONS, role: 'read-write' });
  const end = Promise.withResolvers<void>();
  let requireLock: () => void;
  try {
    await migrate(db);
    requireLock = await lockMove(db, end.promise);
    await markMove(db);
  } catch (error) {
    end.resolve();
    await db.close();
    throw error;
  }
  return {
    rows: (table, range) => rowsOf(db, table, range),
    replace: (table, range, rows) =>
      db.transaction(async (session) => {
        requireLock();
        const { where, params } = condition(table, range);
        await session.run(`delete from ${table.name} ${where}`, params);
        await session.run(insert(table), [toJson(table, rows)]);
      }),
    async finish(tables) {
      requireLock();
      for (const { name } of tables.filter(({ key }) => key.join() === 'id')) {
        const next = `select setval(pg_get_serial_sequence('${name}', 'id'), coalesce(max(id), 0) + 1, false) from ${name}`;
        await db.query(next);
      }
      await db.run(`drop table ${MOVE_MARK}`);
    },
    close() {
      end.resolve();
      return db.close();
    },
  };
}

/**
 * Refuses a second move, which would overwrite what the first one writes. The lock is held until `end`. The returned function throws
 * if its connection was lost: an idle one may be closed by what is in between.
 */
async function lockMove(db: Database, end: Promise<void>): Promise<() => void> {
  let lost: unknown = null;
  const locked = Promise.withResolvers<void>();
  const holding = db.script(async (session) => {
    await session.run('set local idle_in_transaction_session_timeout = 0');
    const [[isLocked]] = (await session.query('select pg_try_advisory_xact_lock($1)', [LOCK])) as [[boolean]];
    if (!isLocked) throw new AppError('unavailable', 'Another urlwarden move writes to this database: let it finish');
    locked.resolve();
    await end;
  });
  await Promise.race([locked.promise, holding]);
  holding.catch((cause) => {
    const message = 'The connection that keeps other moves away was lost: run the move again';
    lost = new AppError('unavailable', message, { cause });
  });
  return () => {
    if (lost !== null) throw lost;
  };
}

async function markMove(db: Database): Promise<void> {
  await db.script(async (session) => {
    const [[isMarked]] = (await session.query(`select to_regclass('${MOVE_MARK}') is not null`)) as [[boolean]];
    if (isMarked) return;
    const [[hasData]] = (await session.query(HAS_DATA)) as [[boolean]];
    if (hasData) throw badRequest('The target database already contains data: use a new, empty one');
    await session.exec(`create table ${MOVE_MARK} (started_at timestamptz not null default now())`);
  });
}

// Not `copy`: after it, PgBouncer (1.24.1) prepares statements again that the server has already, which the server refuses.
const insert = ({ name, columns }: Table) =>
  `insert into ${name} (${columns.join()}) select ${columns.join()} from json_populate_recordset(null::${name}, $1::text::json)`;

function toJson({ columns }: Table, rows: readonly Row[]): string {
  return JSON.stringify(rows.map((row) => Object.fromEntries(toPlain(row).map((cell, i) => [columns[i], cell]))));
}

function rowsOf(session: Session, table: Table, range: Range): Promise<Row[]> {
  const { where, params } = condition(table, range);
  return session.query(
    `select ${table.columns.join()} from ${table.name} ${where} order by ${table.key.join()}`,
    params,
  );
}

function condition({ key }: Table, { after, upTo }: Range): { where: string; params: Param[] } {
  const params: Param[] = [];
  const addParams = (cells: Row) => cells.map((cell) => `$${params.push(cell)}`).join();
  const bounds = [
    ...(after === null ? [] : [`(${key.join()}) > (${addParams(after)})`]),
    ...(upTo === null ? [] : [`(${key.join()}) <= (${addParams(upTo)})`]),
  ];
  return { where: bounds.length === 0 ? '' : `where ${bounds.join(' and ')}`, params };
}
