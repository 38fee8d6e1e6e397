import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { openReader } from '../../src/database/sqlite/database.ts';
import { damagePages, leafPages } from '../damaged-pages.ts';
import { temporaryFolder } from '../temporary-folder.ts';

function opened(t: TestContext) {
  const path = join(temporaryFolder(t), 'some.db');
  const writer = new DatabaseSync(path);
  writer.exec('pragma journal_mode = wal; create table numbers (number integer)');
  const reader = openReader(path);
  t.after(() => {
    reader.close();
    writer.close();
  });
  const count = reader.prepare<[number]>('select count(*) from numbers');
  return {
    path,
    writer,
    reader,
    count: () => count.get()?.[0],
    add: () => writer.exec('insert into numbers values (1)'),
  };
}

test('reads in one callback, promises included, see one state', async (t) => {
  const { count, add } = opened(t);
  assert.equal(count(), 0);
  add();
  assert.equal(count(), 0);
  await Promise.resolve();
  assert.equal(count(), 0);
});

test('reads after the next tick see later writes', async (t) => {
  const { count, add } = opened(t);
  assert.equal(count(), 0);
  add();
  await new Promise<void>((resolve) => process.nextTick(resolve));
  assert.equal(count(), 1);
});

test('after renew, reads in the same callback see later writes', (t) => {
  const { reader, count, add } = opened(t);
  assert.equal(count(), 0);
  add();
  reader.renew();
  assert.equal(count(), 1);
});

test('the version changes with the state that is seen, and only with a write', async (t) => {
  const { reader, count, add } = opened(t);
  const first = reader.version();
  add();
  assert.equal(reader.version(), first);
  assert.equal(count(), 0);
  reader.renew();
  const second = reader.version();
  assert.notEqual(second, first);
  assert.equal(count(), 1);
  await setImmediate();
  assert.equal(reader.version(), second);
});

test('an idle reader does not block a checkpoint', async (t) => {
  const { writer, count, add } = opened(t);
  const checkpoint = () => writer.prepare('pragma wal_checkpoint(truncate)').get()?.busy;
  writer.exec('pragma busy_timeout = 0');
  add();
  count();
  assert.equal(checkpoint(), 1, 'the read transaction is still open');
  await setImmediate();
  assert.equal(checkpoint(), 0);
});

test('a statement that fails leaves the reader usable', async (t) => {
  const { reader, count } = opened(t);
  const bad = reader.prepare<[number]>('select abs(-9223372036854775808) from (select 1)');
  assert.throws(() => bad.get(), /integer overflow/);
  assert.equal(count(), 0);
  await setImmediate();
  assert.equal(count(), 0);
});

test('after a damaged page the next read begins a new transaction, and the tick does not throw', async (t) => {
  const { path, writer, reader, count, add } = opened(t);
  writer.exec('create table others (number integer)');
  writer.exec('insert into others values (1); pragma wal_checkpoint(truncate)');
  damagePages(path, leafPages(path).get('others') ?? []);
  const others = reader.prepare<[number]>('select number from others');
  assert.equal(count(), 0);
  assert.throws(() => others.all(), { code: 'damaged' });
  add();
  assert.equal(count(), 1);
  await setImmediate(); // an error in the tick would end the process
  assert.throws(() => others.all(), { code: 'damaged' });
  assert.equal(count(), 1);
});
