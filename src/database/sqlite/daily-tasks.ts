import { DAILY_SECONDS, type DailyTask, type DailyTaskStore, MAX_PAUSE_SECONDS } from '../daily-tasks.ts';
import type { Database } from './database.ts';
import type { DatabaseFile } from './database-file.ts';

export function createDailyTaskStore({ write }: DatabaseFile<DailyTaskWrites>): DailyTaskStore {
  return { startDailyTask: (task, nowTs) => write('startDailyTask', task, nowTs) };
}

const PUT_OFF = `
  update daily_tasks set started_ts = :nowTs where name = :task and started_ts < :nowTs - ${MAX_PAUSE_SECONDS}`;

/** A time in the future is that of a clock that was set back since. */
const START = `
  insert into daily_tasks (name, started_ts) values (:task, :nowTs)
  on conflict do update set started_ts = excluded.started_ts
  where started_ts <= :nowTs - ${DAILY_SECONDS} or started_ts > :nowTs`;

type DailyTaskWrites = ReturnType<typeof createDailyTaskWrites>;

/** The writes, which run on the writer thread of `control.db`. */
export function createDailyTaskWrites(db: Database) {
  const putOff = db.prepare(PUT_OFF);
  const start = db.prepare(START);

  return {
    startDailyTask(task: DailyTask, nowTs: number): boolean {
      return db.transaction(() => {
        putOff.run({ task, nowTs });
        return start.run({ task, nowTs }) > 0;
      });
    },
  };
}
