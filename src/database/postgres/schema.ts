import { setTimeout } from 'node:timers/promises';
import { AppError, badRequest } from '../../core/errors.ts';
import { type Migration, pendingMigrations, readMigrations } from '../migrations.ts';
import type { Database, Session } from './database.ts';
import { codeOf, LOCK_NOT_AVAILABLE } from './faults.ts';

/** A number that no other program uses for a lock in this database: the letters of "urlw". */
const LOCK = 0x75_72_6c_77;

const CREATE_MIGRATIONS = `
  create table if not exists migrations (
    number integer primary key, name text not null, breaking boolean not null,
    applied_at timestamptz not null default now())`;

/**
 * While a migration waits for the lock of a table, which a pg_dump may hold for hours, all statements of other nodes on
 * this table wait behind it. So it waits for a short time only, and tries again after a pause.
 */
const LOCK_TIMEOUT_MS = 500;
const PAUSE_MS = 1_000;

/** Applies pending migrations. If several nodes start at the same time, the lock admits one of them. */
export async function migrate(db: Database): Promise<void> {
  const known = readMigrations('postgres');
  const missing = await pending(db, known);
  if (missing.length === 0) return;
  if (missing.length === known.length) await requireEncoding(db);
  for (let tries = 1; ; tries++) {
    try {
      return await apply(db, known);
    } catch (error) {
      if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error;
      if (tries === 1) process.stderr.write(`${WAITING}\n`);
      await setTimeout(PAUSE_MS);
    }
  }
}

/** For a replica, which gets the tables from its primary. `known`: of this program, not of one that was installed meanwhile. */
export async function requireMigrated(db: Database, known: readonly Migration[]): Promise<void> {
  if ((await pending(db, known)).length === 0) return;
  throw new AppError('unavailable', 'PostgreSQL lacks tables or columns of this version in this database');
}

const WAITING =
  'Waiting until the tables can be changed for this version: a pg_dump or another long transaction uses one of them';

async function apply(db: Database, known: readonly Migration[]): Promise<void> {
  await db.script(async (session) => {
    await session.query('select pg_advisory_xact_lock($1)', [LOCK]);
    await session.run(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await session.exec(CREATE_MIGRATIONS);
    for (const { number, name, sql, isBreaking } of await pending(session, known)) {
      await session.exec(sql);
      await session.run('insert into migrations (number, name, breaking) values ($1, $2, $3)', [
        number,
        name,
        isBreaking,
      ]);
    }
  });
}

/** With SQL_ASCII the server stores the bytes of UTF-8 as they are. Any other encoding lacks characters of feeds and names. */
const ENCODINGS = ['UTF8', 'SQL_ASCII'];

async function requireEncoding(session: Session): Promise<void> {
  const [[encoding]] = (await session.query<[string]>('show server_encoding')) as [[string]];
  if (ENCODINGS.includes(encoding)) return;
  const advice = 'create it with: createdb --encoding UTF8 --template template0';
  throw badRequest(`The database has the encoding ${encoding}, and has to have UTF8: ${advice}`);
}

async function pending(session: Session, known: readonly Migration[]): Promise<Migration[]> {
  const [[exists]] = (await session.query<[boolean]>(`select to_regclass('migrations') is not null`)) as [[boolean]];
  const applied = exists
    ? await session.query<[number, string, boolean]>('select number, name, breaking from migrations')
    : [];
  return pendingMigrations(
    known,
    applied.map(([number, name, isBreaking]) => ({ number, name, isBreaking })),
  );
}

/** A table that exists while data is copied into the database. */
export const MOVE_MARK = 'move_in_progress';

/** A server would return incomplete data, and its writes would be lost. */
export async function refuseHalfMoved(session: Session): Promise<void> {
  const [[isMarked]] = (await session.query(`select to_regclass('${MOVE_MARK}') is not null`)) as [[boolean]];
  if (isMarked) {
    throw new AppError('unavailable', 'Data is still being moved into this database: let urlwarden move finish first');
  }
}
