import { PAGE_ROWS, pageOf, readPages } from '../../database/pages.ts';
import type { Database } from '../../database/sqlite/database.ts';
import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { NewAuditEntry } from '../entry.ts';
import { ENTRY_COLUMNS, type StoredEntryRow, toEntry, toEntryRow } from '../rows.ts';
import type { AuditEntry, AuditStore } from '../store.ts';

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
      const pages = readPages({ ts: untilTs, id: Number.MAX_SAFE_INTEGER }, {}, (before) =>
        pageOf(entries.all({ sinceTs, ...before }), toEntry, ([id, ts]) => ({ ts, id })),
      );
      for await (const page of pages) {
        found.push(...page.filter(isWanted));
        if (found.length >= limit) break;
      }
      return found.slice(0, limit);
    },
    removeOldAudit: (beforeTs, limit) => write('removeOldAudit', beforeTs, limit),
  };
}

const ADD = `insert into audit (${ENTRY_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?)`;

/** Triggers refuse to delete other entries. */
const ALLOW_REMOVAL = 'update audit_retention set keep_since_ts = ?';

const REMOVE_OLD = `
  delete from audit where id in (select id from audit where ts < ? order by ts, id limit ?)`;

type AuditWrites = ReturnType<typeof createAuditWrites>;

/** The writes, which run on the writer thread of `control.db`. */
export function createAuditWrites(db: Database) {
  const allowRemoval = db.prepare(ALLOW_REMOVAL);
  const removeOld = db.prepare(REMOVE_OLD);

  return {
    addAudit: createAddEntry(db),
    removeOldAudit: (beforeTs: number, limit: number): number =>
      db.transaction(() => {
        allowRemoval.run(beforeTs);
        return removeOld.run(beforeTs, limit);
      }),
  };
}

/** For transactions that write more than the entry. */
export function createAddEntry(db: Database): (entry: NewAuditEntry) => void {
  const add = db.prepare(ADD);
  return (entry) => {
    add.run(...toEntryRow(entry));
  };
}
