import assert from 'node:assert/strict';
import fs, { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { openControl, openIntelligence } from '../../src/app/stores.ts';
import { openExisting } from '../../src/cli/data-command.ts';
import { backupData, restoreData } from '../../src/database/backup.ts';
import { ADA, GOLD, key } from '../app/control-records.ts';
import { ALL_AUDIT, auditEntry } from '../audit/audit-entry.ts';
import { damagePages, leafPages } from '../damaged-pages.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { seen } from '../urls/contract/observations.ts';
import { lastOf } from '../urls/results.ts';

const URL = 'http://a.example/x';

/** A data folder with data of every kind, whose databases stay open until the test ends. */
async function openData(t: TestContext) {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, 'data');
  const [store, control] = [await openIntelligence({ dataDir }), await openControl({ dataDir })];
  t.after(() => Promise.allSettled([store.close(), control.close()]));
  await store.apply([seen({ ts: 10, url: URL, reporter: 'ada', payload: { fileName: 'a.sh' } })]);
  await control.putTier(GOLD);
  await control.addAccount({ ...ADA, tier: 'gold' });
  await control.addKey(key('a', 1), 0);
  await control.addUsage([{ sub: ADA.sub, day: 1, month: 1, count: 5 }]);
  await control.addAudit(auditEntry({}));
  await control.addListKey({ list: 'urls-online', device: 'proxy', sub: ADA.sub, createdTs: 1 }, new Uint8Array(32));
  return { folder, dataDir, store, control, file: join(folder, 'backup.db') };
}

test('a restored folder returns the same data and accepts writes', async (t) => {
  const { folder, dataDir, store, control, file } = await openData(t);
  await backupData({ dataDir, file });
  const restored = join(folder, 'restored');
  await restoreData({ file, dataDir: restored });
  const [store2, control2] = [await openIntelligence({ dataDir: restored }), await openControl({ dataDir: restored })];
  t.after(() => Promise.all([store2.close(), control2.close()]));
  assert.deepEqual(await store2.urlHistory(URL, 10), await store.urlHistory(URL, 10));
  assert.deepEqual(await control2.accounts(), await control.accounts());
  assert.equal((await control2.listKeys({})).length, 1);
  assert.deepEqual(await control2.tiers(), [GOLD]);
  assert.deepEqual(await control2.keys(), await control.keys());
  assert.deepEqual(await control2.usage(ADA.sub, 1, 1), { day: 5, month: 5 });
  assert.deepEqual(await control2.auditEntries(ALL_AUDIT), await control.auditEntries(ALL_AUDIT));
  assert.equal(await control2.version(), await control.version());

  assert.equal(await control2.addAccount(ADA), false, 'the unique keys exist');
  await store2.apply([seen({ ts: 20, url: URL, status: 'offline' })]);
  assert.equal((await lastOf(store2, URL))?.status?.status, 'offline');
});

test('after a restore the serial of a list grows, also if its content is that of the backup', async (t) => {
  const { folder, dataDir, control, file } = await openData(t);
  const serialOf = (store: typeof control, content: number, nowTs: number) =>
    store.listSerial('urls-online', new Uint8Array(32).fill(content), nowTs);
  assert.equal(await serialOf(control, 1, 100), 100);
  await backupData({ dataDir, file });
  assert.equal(await serialOf(control, 2, 200), 200);
  const restored = join(folder, 'restored');
  await restoreData({ file, dataDir: restored });
  const control2 = await openControl({ dataDir: restored });
  t.after(() => control2.close());
  assert.equal(await serialOf(control2, 1, 300), 300);
  assert.equal(await serialOf(control2, 1, 400), 300);
});

test('the restored files have the schema of the original files', async (t) => {
  const { folder, dataDir, file } = await openData(t);
  await backupData({ dataDir, file });
  await restoreData({ file, dataDir: join(folder, 'restored') });
  for (const name of ['intelligence.db', 'control.db']) {
    assert.deepEqual(schema(join(folder, 'restored', name)), schema(join(dataDir, name)));
  }
});

test('a backup is one valid database that only its owner can read', async (t) => {
  const { folder, dataDir, file } = await openData(t);
  await backupData({ dataDir, file });
  assert.deepEqual(readdirSync(folder).sort(), ['backup.db', 'data'], 'no temporary file remains');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const db = new DatabaseSync(file, { readOnly: true });
  t.after(() => db.close());
  assert.deepEqual({ ...db.prepare('pragma integrity_check').get() }, { integrity_check: 'ok' });
  assert.deepEqual({ ...db.prepare('pragma journal_mode').get() }, { journal_mode: 'delete' });
  assert.deepEqual(
    { ...db.prepare('select (select count(*) from urls) urls, (select count(*) from usage) n').get() },
    {
      urls: 1,
      n: 2,
    },
  );
});

test('only the owner can read the restored files, regardless of the mode of the backup', async (t) => {
  const { folder, dataDir, file } = await openData(t);
  await backupData({ dataDir, file });
  chmodSync(file, 0o644);
  const restored = join(folder, 'restored');
  await restoreData({ file, dataDir: restored });
  assert.deepEqual(
    readdirSync(restored).map((name) => [name, statSync(join(restored, name)).mode & 0o777]),
    [
      ['control.db', 0o600],
      ['intelligence.db', 0o600],
    ],
  );
});

test('a backup beside a busy import ends and is consistent', async (t) => {
  const { folder, dataDir, store, file } = await openData(t);
  const filler = Array.from({ length: 30_000 }, (_, i) =>
    seen({ ts: 5, url: `http://f${i}.example/${'x'.repeat(900)}` }),
  );
  await store.apply(filler);
  let isDone = false;
  let batches = 0;
  const importing = (async () => {
    // Two URLs per batch: an inconsistent copy could contain an odd number of them.
    for (; !isDone; batches++) {
      await store.apply([
        seen({ ts: 10, url: `http://${batches}.example/1` }),
        seen({ ts: 10, url: `http://${batches}.example/2` }),
      ]);
    }
  })();
  const shares: number[] = [];
  await backupData({ dataDir, file, onProgress: (share) => shares.push(share) });
  isDone = true;
  await importing;
  assert.ok(batches > 0);
  assert.ok(shares.length > 2);
  assert.deepEqual(
    shares,
    shares.toSorted((a, b) => a - b),
    'the copy never restarted',
  );
  await restoreData({ file, dataDir: join(folder, 'restored') });
  const db = new DatabaseSync(join(folder, 'restored', 'intelligence.db'), { readOnly: true });
  t.after(() => db.close());
  const { n } = db.prepare('select count(*) n from urls').get() as { n: number };
  assert.equal((n - filler.length - 1) % 2, 0);
  assert.deepEqual({ ...db.prepare('pragma integrity_check').get() }, { integrity_check: 'ok' });
});

test('refusals say what to do and leave no files', async (t) => {
  const { folder, dataDir, file } = await openData(t);
  await assert.rejects(backupData({ dataDir: join(folder, 'typo'), file }), { message: /no data in .*--data/ });
  await assert.rejects(backupData({ dataDir, file: join(folder, 'none', 'b.db') }), {
    message: /^There is no folder .*none: create it first$/,
  });
  await backupData({ dataDir, file });
  await assert.rejects(backupData({ dataDir, file }), { message: /already exists/ });
  await assert.rejects(restoreData({ file, dataDir }), { message: /is not empty/ });
  await assert.rejects(restoreData({ file: join(folder, 'typo'), dataDir: join(folder, 'r') }), { message: /no file/ });
  assert.deepEqual(readdirSync(folder).sort(), ['backup.db', 'data']);
});

test('a folder whose restore was killed is not used, whenever that was', async (t) => {
  const { folder, dataDir, file } = await openData(t);
  await backupData({ dataDir, file });
  for (const [at, left] of [
    ['the start', ['intelligence.db.partial']],
    ['the copy', ['intelligence.db.partial', 'control.db.partial']],
    ['the names', ['intelligence.db', 'control.db.partial']],
  ] as const) {
    const killed = join(folder, at);
    mkdirSync(killed);
    for (const name of left) copyFileSync(join(dataDir, name.replace('.partial', '')), join(killed, name));
    const message = /is not complete: a restore .* was interrupted\. .* empty the folder and restore again$/;
    await assert.rejects(openControl({ dataDir: killed }), { message }, at);
    await assert.rejects(openIntelligence({ dataDir: killed }), { message });
    await assert.rejects(openExisting({ dataDir: killed }), { message });
    await assert.rejects(restoreData({ file, dataDir: killed }), { message });
    await assert.rejects(backupData({ dataDir: killed, file: `${file}2` }), { message });
    assert.equal(readdirSync(killed).length, left.length);
  }
});

test('a failed backup leaves no files', async (t) => {
  const { folder, dataDir, file, control } = await openData(t);
  await control.close();
  writeFileSync(join(dataDir, 'control.db'), 'damaged'.repeat(100));
  await assert.rejects(backupData({ dataDir, file }), {
    code: 'damaged',
    message: /cannot be written: .*control\.db is damaged \(file is not a database\)/,
  });
  assert.deepEqual(readdirSync(folder), ['data']);
});

test('a database with a damaged page is not backed up', async (t) => {
  const { folder, dataDir, file, store, control } = await openData(t);
  await Promise.all([store.close(), control.close()]);
  for (const [name, table] of [
    ['control.db', 'usage'],
    ['intelligence.db', 'events'],
  ] as const) {
    const path = join(dataDir, name);
    damagePages(path, leafPages(path).get(table) ?? []);
    const message = new RegExp(`cannot be written: ${path} is damaged`);
    await assert.rejects(backupData({ dataDir, file }), { code: 'damaged', message });
    assert.deepEqual(readdirSync(folder), ['data']);
  }
});

test('a damaged backup is not restored', async (t) => {
  const { folder, dataDir, file } = await openData(t);
  await backupData({ dataDir, file });
  damagePages(file, leafPages(file).get('events') ?? []);
  const restored = join(folder, 'restored');
  const message = /backup\.db cannot be restored: it is damaged .*: use another backup$/;
  await assert.rejects(restoreData({ file, dataDir: restored }), { code: 'damaged', message });
  assert.deepEqual(readdirSync(restored), []);
});

test('a file that is not a backup is not restored', async (t) => {
  const { folder, dataDir } = await openData(t);
  const notes = join(folder, 'notes.txt');
  writeFileSync(notes, 'not a database, but long enough to have the header of one if its first bytes were not checked');
  const restored = join(folder, 'restored');
  for (const [file, reason] of [
    [notes, /cannot be restored: it is not a backup/],
    [join(dataDir, 'control.db'), /not created by urlwarden backup/],
  ] as const) {
    await assert.rejects(restoreData({ file, dataDir: restored }), { name: 'AppError', message: reason });
    assert.deepEqual(readdirSync(restored), []);
  }
  assert.ok(existsSync(notes));
});

function schema(path: string): unknown[] {
  const db = new DatabaseSync(path, { readOnly: true });
  const rows = db.prepare('select type, name, sql from sqlite_schema order by name').all();
  const migrations = db.prepare('select * from migrations').all();
  db.close();
  return [rows, migrations];
}

test('a restore that cannot name its second database leaves an empty folder', async (t) => {
  const { folder, dataDir, file } = await openData(t);
  await backupData({ dataDir, file });
  const restored = join(folder, 'restored');
  const rename = fs.renameSync;
  const mocked = t.mock.method(fs, 'renameSync', (from: string, to: string) => {
    if (to.endsWith('control.db')) throw Object.assign(new Error('EIO: i/o error'), { syscall: 'rename' });
    rename(from, to);
  });
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
  await assert.rejects(restoreData({ file, dataDir: restored }), { message: /cannot be restored: EIO/ });
  assert.deepEqual(readdirSync(restored), []);
});
