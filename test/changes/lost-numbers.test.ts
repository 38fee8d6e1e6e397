import { deepEqual, equal, ok } from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openPostgresControl, openPostgresIntelligence } from '../../src/app/postgres-stores.ts';
import { openControl, openIntelligence } from '../../src/app/stores.ts';
import { backupData, restoreData } from '../../src/database/backup.ts';
import { copyData } from '../../src/database/copy.ts';
import { openDatabase } from '../../src/database/postgres/database.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { NEW_YEAR, seen } from '../urls/contract/observations.ts';
import { ALL, readLines, textOf } from './contract/reader.ts';

const T = NEW_YEAR;
const url = (n: number) => `http://192.0.2.1/${n}`;
const observed = (n: number) => seen({ ts: T, url: url(n), status: 'offline' });

test('after a restore no number is used again, and a reader that has lost changes is refused', async (t) => {
  const folder = temporaryFolder(t);
  const [dataDir, restoredDir, file] = ['data', 'restored', 'backup'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const control = await openControl({ dataDir });
  const store = await openIntelligence({ dataDir });
  await store.apply([observed(1)]);
  const saved = await store.newestChange();
  await backupData({ dataDir, file });
  await store.apply([observed(2), observed(3)]);
  const lost = await store.newestChange();
  await Promise.all([store.close(), control.close()]);

  await restoreData({ file, dataDir: restoredDir });
  const restored = await openIntelligence({ dataDir: restoredDir });
  t.after(() => restored.close());
  await restored.apply([observed(4)]);
  equal(await restored.changesAfter(lost, ALL, 10), 'gone');
  deepEqual(textOf(await readLines(restored, saved, { now: T })), [`add url ${url(4)}`]);
  ok((await restored.newestChange()) > lost + 1_000_000);
});

test('PostgreSQL: the same after a failover, which may lose the newest numbers; a move keeps cursors', async (t) => {
  const dataDir = temporaryFolder(t);
  const control = await openControl({ dataDir });
  const folder = await openIntelligence({ dataDir });
  await folder.apply([observed(1), seen({ ts: T, url: 'http://192.0.2.9/', status: 'online' })]);
  const moved = await folder.newestChange();
  await Promise.all([folder.close(), control.close()]);
  const databaseUrl = await temporaryDatabase(t);
  await copyData({ dataDir, databaseUrl, signal: new AbortController().signal });

  const store = await openPostgresIntelligence({ url: databaseUrl, readUrls: [], connections: 3 });
  const lists = await openPostgresControl({ url: databaseUrl });
  const db = openDatabase(databaseUrl, { connections: 1, role: 'read-write' });
  t.after(() => Promise.all([store.close(), lists.close(), db.close()]));
  deepEqual(textOf(await readLines(store, 0, { now: T })), [
    'add listing XBL|192.0.2.9|URL data||',
    `add url ${url(1)}`,
    'add url http://192.0.2.9/',
  ]);
  await store.apply([observed(2)]);
  deepEqual(textOf(await readLines(store, moved, { now: T })), [`add url ${url(2)}`]);
  const before = await store.newestChange();
  equal(await store.newestChange(), before, 'the place is the same');
  const serialAt = (nowTs: number) => lists.listSerial('urls-online', new Uint8Array(32), nowTs);
  equal(await serialAt(100), 100);
  equal(await serialAt(200), 100);

  // As a replica that became the primary shows it: another timeline.
  await db.run(`update change_numbers set place = 'before the failover'`);
  await store.apply([observed(3)]);
  deepEqual(textOf(await readLines(store, before, { now: T })), [`add url ${url(3)}`]);
  ok((await store.newestChange()) > before + 1);
  equal(await store.changesAfter(before + 1, ALL, 10), 'gone');
  equal(await serialAt(300), 300, 'a serial that was lost may have been given to other content');
  equal(await serialAt(400), 300);
});
