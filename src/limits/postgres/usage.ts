import type { Database } from '../../database/postgres/database.ts';
import type { UsageStore } from '../store.ts';

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

const USAGE = `
  select coalesce((select count from usage where sub = $1 and period = 'day' and number = $2), 0),
         coalesce((select count from usage where sub = $1 and period = 'month' and number = $3), 0)`;

/** Counted queries, shared by any number of nodes. */
export function createUsageStore(db: Database): UsageStore {
  return {
    async usage(sub, day, month) {
      const [counts = [0, 0]] = await db.query<[day: number, month: number]>(USAGE, [sub, day, month]);
      return { day: counts[0], month: counts[1] };
    },

    async addUsage(usage) {
      await db.run(ADD_USAGE, [
        usage.map(({ sub }) => sub),
        usage.map(({ day }) => day),
        usage.map(({ month }) => month),
        usage.map(({ count }) => count),
      ]);
    },
  };
}
