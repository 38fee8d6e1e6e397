import type { Database, Session } from '../../database/postgres/database.ts';
import type { NewAuditEntry } from '../entry.ts';
import { ENTRY_COLUMNS, type StoredEntryRow, toEntry, toEntryRow } from '../rows.ts';
import type { AuditStore } from '../store.ts';

const ENTRIES = `
  select id, ${ENTRY_COLUMNS} from audit
  where ts >= $1 and ts <= $2 and ($3::text is null or subject = $3)
    and ($4::text is null or action = $4 or starts_with(action, $4 || '.'))
  order by ts desc, id desc limit $5`;

/** Triggers refuse to delete other entries. */
const ALLOW_REMOVAL = 'update audit_retention set keep_since_ts = $1';

const REMOVE_OLD = `
  delete from audit where id in (select id from audit where ts < $1 order by ts, id limit $2)`;

/** The audit log, shared by all nodes. */
export function createAuditStore(db: Database): AuditStore {
  return {
    addAudit: (entry) => addEntry(db, entry),

    async auditEntries({ sinceTs, untilTs, subject, action, limit }) {
      const rows = await db.query<StoredEntryRow>(ENTRIES, [sinceTs, untilTs, subject, action, limit]);
      return rows.map(toEntry);
    },

    removeOldAudit: (beforeTs, limit) =>
      db.transaction(async (session) => {
        await session.run(ALLOW_REMOVAL, [beforeTs]);
        return session.run(REMOVE_OLD, [beforeTs, limit]);
      }),
  };
}

const ADD = `insert into audit (${ENTRY_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7)`;

/** For transactions that write more than the entry. */
export async function addEntry(session: Session, entry: NewAuditEntry): Promise<void> {
  await session.run(ADD, toEntryRow(entry));
}
