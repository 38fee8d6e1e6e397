import type { Usage } from '../control.ts';
import type { Database, Session } from './database.ts';

/**
 * One statement for a batch of any size. Rows are taken in the order of their keys, so that nodes that write at the same
 * time wait for each other and never in a circle. What is given back of a count that is not there is left out: a new row
 * would be negative, because `excluded` has no other value than the one to be inserted.
 */
const ADD_USAGE = `
  with given as (
    select sub, period, number, sum(count)::bigint as count
    from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) as used (sub, day, month, count),
      lateral (values ('day', day), ('month', month)) as periods (period, number)
    group by sub, period, number
  )
  insert into usage (sub, period, number, count)
  select sub, period, number, count from given
  where count >= 0 or exists (
    select from usage as known
    where known.sub = given.sub and known.period = given.period and known.number = given.number)
  order by sub collate "C", period collate "C", number
  on conflict (sub, period, number) do update set count = greatest(0, usage.count + excluded.count)`;

export function usageWrites(db: Database) {
  return {
    async addUsage(usage: readonly Usage[]): Promise<void> {
      await db.run(ADD_USAGE, [
        usage.map(({ sub }) => sub),
        usage.map(({ day }) => day),
        usage.map(({ month }) => month),
        usage.map(({ count }) => count),
      ]);
    },
  };
}

/**
 * Locked in the order of `ADD_USAGE`; a deletion alone takes rows as they lie in the table. In one statement, because a
 * second one might see rows that came meanwhile, and wait for them out of order.
 */
const REMOVE_USAGE = `
  with locked as materialized (
    select period, number from usage where sub = $1 order by period, number for update
  )
  delete from usage where sub = $1 and (period, number) in (select period, number from locked)`;

/** All counts of an account. */
export async function removeUsage(session: Session, sub: string): Promise<void> {
  await session.run(REMOVE_USAGE, [sub]);
}
