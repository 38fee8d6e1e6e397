import type { Database } from '../../database/sqlite/database.ts';
import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { Usage, UsageStore } from '../store.ts';
import { type UsageRow, type WrongMonth, wrongMonths } from '../usage-rules.ts';

const USAGE = `
  select coalesce((select count from usage where sub = :sub and period = 'day' and number = :day), 0),
         coalesce((select count from usage where sub = :sub and period = 'month' and number = :month), 0)`;

const NEXT_SUB = 'select min(sub) from usage where sub > ?';

const USAGE_OF_SUB = 'select period, number, count from usage where sub = ?';

/** Counted queries in `control.db`. */
export function createUsageStore({ db, write }: DatabaseFile<UsageWrites>): UsageStore {
  const read = db.prepare<[day: number, month: number]>(USAGE);
  const nextSub = db.prepare<[string | null]>(NEXT_SUB);
  const ofSub = db.prepare<UsageRow>(USAGE_OF_SUB);

  return {
    async usage(sub, day, month) {
      const counts = read.get({ sub, day, month }) ?? [0, 0];
      return { day: counts[0], month: counts[1] };
    },
    addUsage: (usage) => write('addUsage', usage),
    async checkUsage(after) {
      const sub = nextSub.get(after)?.[0] ?? null;
      if (sub === null) return null;
      const rows = ofSub.all(sub);
      return { sub, rows: rows.length, wrong: wrongMonths(rows) };
    },
    repairUsage: (sub) => write('repairUsage', sub),
  };
}

const ADD_USAGE = `
  insert into usage (sub, period, number, count) values (?, ?, ?, max(0, ?))
  on conflict do update set count = max(0, count + ?)`;

const SET_MONTH = `
  insert into usage (sub, period, number, count) values (?, 'month', ?, ?) on conflict do update set count = excluded.count`;

type UsageWrites = ReturnType<typeof createUsageWrites>;

/** The writes, which run on the writer thread of `control.db`. */
export function createUsageWrites(db: Database) {
  const add = db.prepare(ADD_USAGE);
  const ofSub = db.prepare<UsageRow>(USAGE_OF_SUB);
  const setMonth = db.prepare(SET_MONTH);

  return {
    repairUsage(sub: string): WrongMonth[] {
      return db.transaction(() => {
        const wrong = wrongMonths(ofSub.all(sub));
        for (const { month, sum } of wrong) setMonth.run(sub, month, sum);
        return wrong;
      });
    },

    addUsage(usage: readonly Usage[]): void {
      db.transaction(() => {
        for (const { sub, day, month, count } of usage) {
          add.run(sub, 'day', day, count, count);
          add.run(sub, 'month', month, count, count);
        }
      });
    },
  };
}
