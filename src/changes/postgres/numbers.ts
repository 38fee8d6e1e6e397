import { CLOCK } from '../../database/postgres/changes.ts';
import type { Database, Session } from '../../database/postgres/database.ts';

/**
 * Which server gives numbers, and which history of its data: the number of a cluster is made at random, its timeline
 * changes with every failover and every restore to a point in time, and a dump is restored into a database with another oid.
 */
const PLACE = `
  (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
  || '/' || (select oid from pg_database where datname = current_database())`;

const STATE = `
  select newest, place = ${PLACE}, exists (select 1 from changes where seq is null) from change_numbers`;

type State = [newest: number, isSamePlace: boolean, hasUnnumbered: boolean];

/**
 * The newest number, after every row whose transaction has ended got its number. A number that the writing transaction
 * takes itself becomes visible with its commit, in any order: a reader would skip those that commit late. Here numbers are
 * given by one transaction at a time, to committed rows only, so they become visible in their order. Writers never wait for it.
 */
export async function newestNumber(db: Database): Promise<number> {
  const [state] = await db.query<State>(STATE);
  if (state?.[1] && !state[2]) return state[0];
  for (;;) {
    const { newest, isDone } = await db.transaction(giveNumbers);
    if (isDone) return newest;
  }
}

const LOCK = `select newest, place, ${PLACE} from change_numbers for update`;

const SET_PLACE = 'update change_numbers set place = $1';

/** More than any server gives in a second. */
const NUMBERS_PER_SECOND = 1_000_000;

// Numbers after the newest one here may have been given before a failover or restore, to other changes. New ones begin where
// none of them can be.
const SKIP = `
  with skipped as (
    update change_numbers set newest = greatest(newest + ${NUMBERS_PER_SECOND}, ${CLOCK} * ${NUMBERS_PER_SECOND}) returning newest)
  insert into changes (seq, count, ts, op, kind, subjects) select newest, 1, ${CLOCK}, 1, null, '[]' from skipped`;

// Serials of lists too: the next build of each list takes a new one. No content has an empty hash.
const FORGET_LIST_CONTENTS = `update list_serials set content_hash = ''`;

/** Rows in one transaction: some ten milliseconds. */
const CHUNK_ROWS = 1_000;

const NUMBER = `
  with next as (
    select id, ((select newest from change_numbers) + sum(count) over (order by id))::bigint as seq
    from (select id, count from changes where seq is null order by id limit ${CHUNK_ROWS}) c),
  numbered as (
    update changes c set seq = next.seq from next where c.id = next.id returning c.seq)
  update change_numbers set newest = greatest(newest, (select max(seq) from numbered))
  returning newest, (select count(*) from numbered)`;

async function giveNumbers(session: Session): Promise<{ newest: number; isDone: boolean }> {
  // Its own statement: the next one begins after the lock, and sees what the transaction before has numbered.
  const [locked] = await session.query<[newest: number, place: string, currentPlace: string]>(LOCK);
  const [before, place, currentPlace] = locked ?? [0, '', ''];
  if (place !== currentPlace) {
    await session.run(SET_PLACE, [currentPlace]);
    if (before > 0) await session.run(SKIP);
    await session.run(FORGET_LIST_CONTENTS);
  }
  const [row] = await session.query<[newest: number, numbered: number]>(NUMBER);
  const [newest, numbered] = row ?? [before, 0];
  return { newest, isDone: numbered < CHUNK_ROWS };
}
