import { DAILY_SECONDS, type DailyTaskStore, MAX_PAUSE_SECONDS } from '../daily-tasks.ts';
import type { Database } from './database.ts';

const PUT_OFF = `
  update daily_tasks set started_ts = $2 where name = $1 and started_ts < $2 - ${MAX_PAUSE_SECONDS}`;

/** A time in the future is that of a clock that was set back since. */
const START = `
  insert into daily_tasks (name, started_ts) values ($1, $2)
  on conflict (name) do update set started_ts = excluded.started_ts
  where daily_tasks.started_ts <= excluded.started_ts - ${DAILY_SECONDS}
    or daily_tasks.started_ts > excluded.started_ts`;

export function createDailyTaskStore(db: Database): DailyTaskStore {
  return {
    async startDailyTask(task, nowTs) {
      await db.run(PUT_OFF, [task, nowTs]);
      return (await db.run(START, [task, nowTs])) > 0;
    },
  };
}
