import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { dataFiles } from '../../src/database/data-folder.ts';
import { openReader, withWriter } from '../../src/database/sqlite/database.ts';
import { prepareDatabaseFile } from '../../src/database/sqlite/database-file.ts';
import { createKnownUrls, createKnownUrlsBuffer, type KnownUrls } from '../../src/urls/sqlite/known-urls.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

/** More than are read at once. */
const MANY = 3_000;
/** More than the smallest part of the buffer is made for. */
const VERY_MANY = 70_000;

const urlAt = (id: number) => `http://a.example/${id}`;
const UNKNOWN = Array.from({ length: 100 }, (_, i) => `http://unknown.example/${i}`);

/** `open`: the filter on a connection of its own, as another thread has it. `run`: a write of another connection. */
function openDatabase(t: TestContext) {
  const path = dataFiles(temporaryFolder(t)).intelligence;
  prepareDatabaseFile('intelligence', path);
  const buffer = createKnownUrlsBuffer();
  const open = (): KnownUrls => {
    const reader = openReader(path);
    t.after(() => reader.close());
    return createKnownUrls(reader, buffer);
  };
  const run = async (sql: string) => {
    withWriter(path, (db) => db.exec(sql));
    await nextIteration(); // a read transaction of this iteration would be older
  };
  const add = (first: number, last: number) =>
    run(`insert into urls (url_key, url, host_id)
      with recursive n (i) as (select ${first} union all select i + 1 from n where i < ${last})
      select randomblob(16), 'http://a.example/' || i, 1 from n`);
  return { open, run, add };
}

/** A few of the unknown URLs may be candidates. */
const isInUse = (known: KnownUrls) => known.candidates(UNKNOWN).length < UNKNOWN.length / 10;

function assertKnows(known: KnownUrls, ids: readonly number[]): void {
  const places = known.candidates([...ids.map(urlAt), ...UNKNOWN]);
  assert.deepEqual(places.slice(0, ids.length), [...ids.keys()]);
}

test('few URLs are in the filter at once; many are looked up in the database until they are', async (t) => {
  const { open, add } = openDatabase(t);
  const known = open();
  assert.deepEqual(known.candidates(UNKNOWN), []);
  await add(1, 10);
  assertKnows(known, [1, 10]);
  assert.ok(isInUse(known));
  await add(11, MANY);
  assert.equal(known.candidates(UNKNOWN).length, UNKNOWN.length);
  await until(() => isInUse(known), 'the filter');
  assertKnows(known, [1, 10, 11, 2_000, MANY]);
});

test('a filter has what other connections have stored, in the next read transaction', async (t) => {
  const { open, add } = openDatabase(t);
  const known = open();
  for (let id = 1; id <= 300; id += 3) {
    await add(id, id + 2);
    assertKnows(known, [id, id + 1, id + 2]);
    assert.ok(isInUse(known));
  }
  assertKnows(known, [1, 2, 150, 299, 300]);
});

test('threads share the filter', async (t) => {
  const { open, add } = openDatabase(t);
  await add(1, MANY);
  const [first, second] = [open(), open()];
  await until(() => isInUse(first), 'the filter');
  assert.ok(isInUse(second), 'the second one must not be built again');
  await add(MANY + 1, MANY + 1);
  assertKnows(second, [1, MANY, MANY + 1]);
  assertKnows(first, [1, MANY, MANY + 1]);
});

test('a database that outgrows the filter gets a larger one', async (t) => {
  const { open, add } = openDatabase(t);
  await add(1, MANY);
  const [first, second] = [open(), open()];
  await until(() => isInUse(first), 'the filter');
  await add(MANY + 1, VERY_MANY);
  assertKnows(first, [1, VERY_MANY]);
  await until(() => isInUse(first), 'the larger filter');
  for (const known of [first, second]) {
    assert.ok(isInUse(known));
    assertKnows(known, [1, MANY, MANY + 1, 2 ** 16, 2 ** 16 + 1, VERY_MANY]);
  }
});

test('a database with more URLs than the largest filter has none', async (t) => {
  const { open, run } = openDatabase(t);
  const known = open();
  await run(`insert into urls (id, url_key, url, host_id) values (${2 ** 25 + 1}, x'01', '${urlAt(1)}', 1)`);
  assert.equal(known.candidates(UNKNOWN).length, UNKNOWN.length);
});

test('after ids were used again the filter is not used any more', async (t) => {
  for (const added of [1, 2, 5]) {
    const { open, run, add } = openDatabase(t);
    const [first, second] = [open(), open()];
    await add(1, 100);
    assert.ok(isInUse(first));
    await run('delete from urls where id >= 99');
    await add(201, 200 + added);
    assertKnows(
      first,
      Array.from({ length: added }, (_, i) => 201 + i),
    );
    await add(301, 302);
    assertKnows(first, [301, 302]);
    assertKnows(second, [301, 302]);
  }
});

test('URLs that were deleted may stay in the filter', async (t) => {
  const { open, run, add } = openDatabase(t);
  const known = open();
  await add(1, 100);
  await run('delete from urls where id < 50');
  assertKnows(known, [50, 100]);
  await add(101, 102);
  assertKnows(known, [50, 101, 102]);
  assert.ok(isInUse(known));
});
