import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import postgres from 'postgres';
import { postgresControl } from '../postgres-control.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';
import { temporaryControl } from '../temporary-control.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { ALL_AUDIT, auditEntry } from './audit-entry.ts';

const REFUSED = /the audit log is append-only/;

const CHANGES = [
  `update audit set actor = 'nobody'`,
  'delete from audit',
  `insert into audit_retention values (0, 0); delete from audit_retention; delete from audit`,
];

test('SQLite refuses to change or delete entries', async (t) => {
  const dataDir = temporaryFolder(t);
  const control = await temporaryControl(t, dataDir);
  await control.addAudit(auditEntry({}));
  const db = new DatabaseSync(join(dataDir, 'control.db'));
  t.after(() => db.close());
  for (const sql of CHANGES) assert.throws(() => db.exec(sql), REFUSED, sql);
  assert.equal((await control.auditEntries(ALL_AUDIT))[0]?.actor, 'grace');
});

test('PostgreSQL refuses to change or delete entries', async (t) => {
  const url = await temporaryDatabase(t);
  const control = await postgresControl(t, url);
  await control.addAudit(auditEntry({}));
  const sql = postgres(url, { max: 1 });
  t.after(() => sql.end());
  for (const text of [...CHANGES, 'truncate audit']) await assert.rejects(sql.unsafe(text).simple(), REFUSED, text);
  assert.equal((await control.auditEntries(ALL_AUDIT))[0]?.actor, 'grace');
});
