import type { Database } from '../../database/sqlite/database.ts';
import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { Usage, UsageStore } from '../store.ts';

const USAGE = `
  select coalesce((select count from usage where sub = :sub and period = 'day' and number = :day), 0),
         coalesce((select count from usage where sub = :sub and period = 'month' and number = :month), 0)`;

/** Counted queries in `control.db`. */
export function createUsageStore({ db, write }: DatabaseFile<UsageWrites>): UsageStore {
  const read = db.prepare<[day: number, month: number]>(USAGE);

  return {
    async usage(sub, day, month) {
      const counts = read.get({ sub, day, month }) ?? [0, 0];
      return { day: counts[0], month: counts[1] };
    },
    addUsage: (usage) => write('addUsage', usage),
  };
}

const ADD_USAGE = `
  insert into usage (sub, period, number, count) values (?, ?, ?, max(0, ?))
  on conflict do update set count = max(0, count + ?)`;

type UsageWrites = ReturnType<typeof createUsageWrites>;

/** The writes, which run on the writer thread of `control.db`. */
export function createUsageWrites(db: Database) {
  const add = db.prepare(ADD_USAGE);

  return {
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
