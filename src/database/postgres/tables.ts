import { AppError } from '../../core/errors.ts';
import { type Range, type Row, type Table, toCopyText } from '../table.ts';
import { type Database, openDatabase, type Session } from './database.ts';
import type { Param } from './parameters.ts';
import { MOVE_MARK, migrate } from './schema.ts';

/** The tables of a database that data is moved into. */
export type Tables = {
  rows(table: Table, range: Range): Promise<Row[]>;
  /** Puts these rows in the place of what is in the range. */
  replace(table: Table, range: Range, rows: readonly Row[]): Promise<void>;
  /** New rows get ids after the greatest; from now on servers may start. */
  finish(tables: readonly Table[]): Promise<void>;
  close(): Promise<void>;
};

/** One at a time: rows are read and written in the order of their keys. */
const CONNECTIONS = 1;

const IS_FILLED =
  'select exists (select 1 from urls) or exists (select 1 from accounts) or exists (select 1 from feeds)';

/** Only a new database is filled, or one whose filling was cut off: anything else may be somebody's data. */
export async function openTables(url: string): Promise<Tables> {
  const db = openDatabase(url, { connections: CONNECTIONS, role: 'read-write' });
  try {
    await migrate(db);
    await mark(db);
  } catch (error) {
    await db.close();
    throw error;
  }
  return {
    rows: (table, range) => rowsOf(db, table, range),
    replace: (table, range, rows) =>
      db.transaction(async (session) => {
        const { where, params } = condition(table, range);
        await session.run(`delete from ${table.name} ${where}`, params);
        await session.copyIn(`copy ${table.name} (${table.columns.join()}) from stdin`, toCopyText(rows));
      }),
    async finish(tables) {
      for (const { name } of tables.filter(({ key }) => key.join() === 'id')) {
        const next = `select setval(pg_get_serial_sequence('${name}', 'id'), coalesce(max(id), 0) + 1, false) from ${name}`;
        await db.query(next);
      }
      await db.run(`drop table ${MOVE_MARK}`);
    },
    close: db.close,
  };
}

async function mark(db: Database): Promise<void> {
  await db.script(async (session) => {
    const [[isMarked]] = (await session.query(`select to_regclass('${MOVE_MARK}') is not null`)) as [[boolean]];
    if (isMarked) return;
    const [[isFilled]] = (await session.query(IS_FILLED)) as [[boolean]];
    if (isFilled) throw new AppError('bad_request', 'That database holds data already: move into a new, empty one');
    await session.exec(`create table ${MOVE_MARK} (started_at timestamptz not null default now())`);
  });
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
  const place = (cells: Row) => cells.map((cell) => `$${params.push(cell)}`).join();
  const bounds = [
    ...(after === null ? [] : [`(${key.join()}) > (${place(after)})`]),
    ...(upTo === null ? [] : [`(${key.join()}) <= (${place(upTo)})`]),
  ];
  return { where: bounds.length === 0 ? '' : `where ${bounds.join(' and ')}`, params };
}
