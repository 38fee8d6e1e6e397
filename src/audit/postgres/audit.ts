import type { Database, Session } from '../../database/postgres/database.ts';
import type { NewAuditEntry } from '../entry.ts';
import { ENTRY_COLUMNS, MAX_DELAY_SECONDS, type StoredEntryRow, toEntry, toEntryRow } from '../rows.ts';
import type { AuditStore } from '../store.ts';

const ENTRIES = `
  select id, ${ENTRY_COLUMNS} from audit
  where ts >= $1 and ts <= $2 and ($3::text is null or subject = $3)
    and ($4::text is null or action = $4 or starts_with(action, $4 || '.'))
  order by ts desc, id desc limit $5`;

const PUT_OFF_CLEAN_UP = `
  update audit_retention set next_run_ts = $1 where next_run_ts > 0 and next_run_ts < $2 - ${MAX_DELAY_SECONDS}`;

/** A time more than a day ahead is that of a clock that was set back since. */
const START_CLEAN_UP = `
  update audit_retention set keep_since_ts = $1, next_run_ts = $2 where next_run_ts <= $3 or next_run_ts > $2`;

const REMOVE_OLD = `
  delete from audit where id in (
    select id from audit where ts < (select keep_since_ts from audit_retention) order by ts, id limit $1)`;

/** The audit log, shared by all nodes. */
export function createAuditStore(db: Database): AuditStore {
  return {
    addAudit: (entry) => addEntry(db, entry),

    async auditEntries({ sinceTs, untilTs, subject, action, limit }) {
      const rows = await db.query<StoredEntryRow>(ENTRIES, [sinceTs, untilTs, subject, action, limit]);
      return rows.map(toEntry);
    },

    async startAuditCleanUp({ keepSinceTs, nowTs, nextRunTs }) {
      await db.run(PUT_OFF_CLEAN_UP, [nextRunTs, nowTs]);
      return (await db.run(START_CLEAN_UP, [keepSinceTs, nextRunTs, nowTs])) > 0;
    },

    removeOldAudit: (limit) => db.run(REMOVE_OLD, [limit]),
  };
}

const ADD = `insert into audit (${ENTRY_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7)`;

/** For transactions that write more than the entry. */
export async function addEntry(session: Session, entry: NewAuditEntry): Promise<void> {
  await session.run(ADD, toEntryRow(entry));
}
