import { setImmediate } from 'node:timers/promises';
import { PAGE_ROWS } from '../../database/pages.ts';
import type { Database } from '../../database/sqlite/database.ts';
import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { NewAuditEntry } from '../entry.ts';
import { ENTRY_COLUMNS, MAX_DELAY_SECONDS, type StoredEntryRow, toEntry, toEntryRow } from '../rows.ts';
import type { AuditEntry, AuditStore, CleanUpTimes } from '../store.ts';

/** Filtered here, not by SQLite: a rare subject would make one statement read the whole log. */
const ENTRIES = `
  select id, ${ENTRY_COLUMNS} from audit
  where ts >= :sinceTs and (ts, id) < (:ts, :id)
  order by ts desc, id desc limit ${PAGE_ROWS}`;

/** The audit log in `control.db`. */
export function createAuditStore({ db, write }: DatabaseFile<AuditWrites>): AuditStore {
  const entries = db.prepare<StoredEntryRow>(ENTRIES);

  return {
    addAudit: (entry) => write('addAudit', entry),
    async auditEntries({ sinceTs, untilTs, subject, action, limit }) {
      const found: AuditEntry[] = [];
      const isWanted = (entry: AuditEntry) =>
        (subject === null || entry.subject === subject) &&
        (action === null || entry.action === action || entry.action.startsWith(`${action}.`));
      for (let before = { ts: untilTs, id: Number.MAX_SAFE_INTEGER }; ; await setImmediate()) {
        const page = entries.all({ sinceTs, ...before }).map(toEntry);
        found.push(...page.filter(isWanted));
        const last = page.at(-1);
        if (last === undefined || page.length < PAGE_ROWS || found.length >= limit) return found.slice(0, limit);
        before = { ts: last.ts, id: last.id };
      }
    },
    startAuditCleanUp: (times) => write('startAuditCleanUp', times),
    removeOldAudit: (limit) => write('removeOldAudit', limit),
  };
}

const ADD = `insert into audit (${ENTRY_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?)`;

const PUT_OFF_CLEAN_UP = `
  update audit_retention set next_run_ts = :nextRunTs
  where next_run_ts > 0 and next_run_ts < :nowTs - ${MAX_DELAY_SECONDS}`;

/** A time more than a day ahead is that of a clock that was set back since. */
const START_CLEAN_UP = `
  update audit_retention set keep_since_ts = :keepSinceTs, next_run_ts = :nextRunTs
  where next_run_ts <= :nowTs or next_run_ts > :nextRunTs`;

const REMOVE_OLD = `
  delete from audit where id in (
    select id from audit where ts < (select keep_since_ts from audit_retention) order by ts, id limit ?)`;

type AuditWrites = ReturnType<typeof createAuditWrites>;

/** The writes, which run on the writer thread of `control.db`. */
export function createAuditWrites(db: Database) {
  const putOff = db.prepare(PUT_OFF_CLEAN_UP);
  const start = db.prepare(START_CLEAN_UP);
  const removeOld = db.prepare(REMOVE_OLD);

  return {
    addAudit: createAddEntry(db),
    startAuditCleanUp: ({ keepSinceTs, nowTs, nextRunTs }: CleanUpTimes): boolean =>
      db.transaction(() => {
        putOff.run({ nowTs, nextRunTs });
        return start.run({ keepSinceTs, nowTs, nextRunTs }) > 0;
      }),
    removeOldAudit: (limit: number): number => removeOld.run(limit),
  };
}

/** For transactions that write more than the entry. */
export function createAddEntry(db: Database): (entry: NewAuditEntry) => void {
  const add = db.prepare(ADD);
  return (entry) => {
    add.run(...toEntryRow(entry));
  };
}
