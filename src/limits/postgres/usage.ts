import type { Database } from '../../database/postgres/database.ts';
import type { UsageStore } from '../store.ts';
import { type UsageRow, wrongMonths } from '../usage-rules.ts';

/**
 * One statement for a batch of any size. Rows are locked in the order of their keys, so that concurrent nodes cannot
 * deadlock. A refund for a missing row is ignored: the row would be inserted with a negative count, because `excluded`
 * holds only the value to insert.
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
    select from usage as stored
    where stored.sub = given.sub and stored.period = given.period and stored.number = given.number)
  order by sub collate "C", period collate "C", number
  on conflict (sub, period, number) do update set count = greatest(0, usage.count + excluded.count)`;

const USAGE = `
  select coalesce((select count from usage where sub = $1 and period = 'day' and number = $2), 0),
         coalesce((select count from usage where sub = $1 and period = 'month' and number = $3), 0)`;

const NEXT_SUB = 'select min(sub) from usage where sub > $1';

const USAGE_OF_SUB = 'select period, number, count from usage where sub = $1';

const LOCK_USAGE = `${USAGE_OF_SUB} order by period collate "C", number for update`;

const SET_MONTHS = `
  insert into usage (sub, period, number, count)
  select $1, 'month', w.number, w.count from unnest($2::bigint[], $3::bigint[]) as w (number, count) order by w.number
  on conflict (sub, period, number) do update set count = excluded.count`;

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

    async checkUsage(after) {
      const [next] = await db.query<[string | null]>(NEXT_SUB, [after]);
      const sub = next?.[0] ?? null;
      if (sub === null) return null;
      const rows = await db.query<UsageRow>(USAGE_OF_SUB, [sub]);
      return { sub, rows: rows.length, wrong: wrongMonths(rows) };
    },

    repairUsage: (sub) =>
      db.transaction(async (session) => {
        const wrong = wrongMonths(await session.query<UsageRow>(LOCK_USAGE, [sub]));
        const columns = [wrong.map(({ month }) => month), wrong.map(({ sum }) => sum)];
        if (wrong.length > 0) await session.run(SET_MONTHS, [sub, ...columns]);
        return wrong;
      }),
  };
}
