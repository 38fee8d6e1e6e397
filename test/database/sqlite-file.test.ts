import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { openIntelligence } from '../../src/app/stores.ts';
import { AppError } from '../../src/core/errors.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { seen } from '../urls/contract/observations.ts';
import { lastOf } from '../urls/results.ts';

const run = promisify(execFile);
const isUnavailable = (error: unknown) => error instanceof AppError && error.code === 'unavailable';

test('only the owner can read the data folder', async (t) => {
  const dataDir = join(temporaryFolder(t), 'new', 'folder');
  const store = await openIntelligence({ dataDir });
  await store.close();
  assert.equal(statSync(dataDir).mode & 0o777, 0o700);
});

test('several processes can open a new store at the same time', async (t) => {
  const dataDir = temporaryFolder(t);
  const opener = `
    const { openIntelligence } = await import(${JSON.stringify(new URL('../../src/app/stores.ts', import.meta.url).href)});
    const store = await openIntelligence({ dataDir: ${JSON.stringify(dataDir)} });
    console.log(await store.urlId('http://a.example/'));
    await store.close();`;
  const all = await Promise.all(
    Array.from({ length: 4 }, () => run(process.execPath, ['--input-type=module', '-e', opener])),
  );
  assert.deepEqual(
    all.map(({ stdout }) => stdout),
    Array(4).fill('null\n'),
  );
});

test('a read sees earlier writes of another connection', async (t) => {
  const dataDir = temporaryFolder(t);
  const [reader, writer] = [await openIntelligence({ dataDir }), await openIntelligence({ dataDir })];
  await writer.apply([seen({ ts: 10, url: 'http://a.example/' })]);
  assert.equal(await reader.urlId('http://a.example/'), 1);
  await Promise.all([reader.close(), writer.close()]);
});

test('a database that a newer version changed is refused only when the change was breaking', async (t) => {
  const dataDir = temporaryFolder(t);
  await (await openIntelligence({ dataDir })).close();
  const later = (breaking: number) => {
    const db = new DatabaseSync(join(dataDir, 'intelligence.db'));
    db.prepare('insert or replace into migrations values (9999, ?, ?, 0)').run('9999_later.sql', breaking);
    db.close();
  };
  later(0);
  await (await openIntelligence({ dataDir })).close();
  later(1);
  await assert.rejects(openIntelligence({ dataDir }), /newer version of urlwarden \(9999_later\.sql\)/);
});

test('a folder that cannot be used is reported as unavailable', async (t) => {
  const file = join(temporaryFolder(t), 'file');
  writeFileSync(file, 'not a folder');
  await assert.rejects(openIntelligence({ dataDir: join(file, 'inside') }), isUnavailable);
});

test('a store whose file was moved is not ready', async (t) => {
  const dataDir = temporaryFolder(t);
  const store = await openIntelligence({ dataDir });
  t.after(() => store.close());
  await store.ready();
  renameSync(join(dataDir, 'intelligence.db'), join(dataDir, 'elsewhere.db'));
  await assert.rejects(store.ready(), isUnavailable);
});

test('a batch that fails leaves nothing behind, and the next one succeeds', async (t) => {
  const dataDir = temporaryFolder(t);
  const store = await openIntelligence({ dataDir });
  t.after(() => store.close());
  const good = seen({ ts: 10, url: 'http://a.example/', reporter: 'new' });
  const bad = { ...seen({ ts: 10, url: 'http://b.example/' }), ts: 1.5 };
  await assert.rejects(store.apply([good, bad]));
  assert.equal(await store.urlId('http://a.example/'), null);
  await store.apply([good]);
  assert.equal((await lastOf(store, 'http://a.example/'))?.status?.reporter, 'new');
});
