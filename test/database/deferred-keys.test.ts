import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Database, openWriter } from '../../src/database/sqlite/database.ts';
import { prepareDatabaseFile } from '../../src/database/sqlite/database-file.ts';
import { areKeysDeferred, deferIndexes } from '../../src/database/sqlite/deferred-indexes.ts';
import { createDeferredKeys } from '../../src/database/sqlite/deferred-keys.ts';
import { createDictionaries } from '../../src/database/sqlite/dictionaries.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** An empty database whose indexes are deferred. */
function openDeferred(t: TestContext): Database {
  const path = join(temporaryFolder(t), 'intelligence.db');
  prepareDatabaseFile('intelligence', path);
  deferIndexes(path);
  const db = openWriter(path);
  t.after(() => db.close());
  return db;
}

const namesOf = (db: Database) =>
  db
    .prepare<[number, string]>('select id, name from domains order by id')
    .all()
    .map(([id, name]) => `${id} ${name}`);

test('every name is found, whatever its length and letters', (t) => {
  const db = openDeferred(t);
  const { domains, transaction } = createDictionaries(db);
  const short = ['', 'a', 'a\u0000', '\u0001', '\u0101', '198.18.0.1'];
  const stems = [...short, 'x'.repeat(14), 'x'.repeat(15), 'x'.repeat(16), '\u0101'.repeat(15)];
  const names = stems.flatMap((stem) => Array.from({ length: 1_000 }, (_, i) => `${stem}${i || ''}`));
  const ids = () => {
    domains.clearCache();
    return transaction(() => names.map(domains.idOf));
  };
  const first = ids();
  assert.equal(new Set(first).size, new Set(names).size);
  assert.deepEqual(ids(), first);
  assert.ok(areKeysDeferred(db));
});

test('names that a rollback removed are added again, once', (t) => {
  const db = openDeferred(t);
  const { domains, transaction } = createDictionaries(db);
  transaction(() => domains.idOf('a.example'));
  const failing = () =>
    transaction(() => {
      domains.idOf('b.example');
      throw new Error('disk full');
    });
  assert.throws(failing, /disk full/);
  transaction(() => ['c.example', 'b.example', 'a.example'].map(domains.idOf));
  assert.deepEqual(namesOf(db), ['1 a.example', '2 c.example', '3 b.example']);
  assert.ok(!areKeysDeferred(db));
});

test('the indexes are created when the memory is full', (t) => {
  const db = openDeferred(t);
  const keys = createDeferredKeys(db, 3);
  const add = db.prepare('insert into domains (name) values (?) on conflict do nothing');
  const added: string[] = [];
  const put = (name: string) => {
    added.push(name);
    return add.insertNew(name) ?? 0;
  };
  const putAll = (...names: string[]) =>
    db.transaction(() => {
      keys.begin();
      return names.map((name) => keys.idOf('domains', name, put));
    });
  assert.deepEqual(putAll('a', 'b', 'a'), [1, 2, 1]);
  assert.ok(areKeysDeferred(db));
  putAll('c', 'd');
  assert.ok(!areKeysDeferred(db));
  putAll('a');
  assert.deepEqual(added, ['a', 'b', 'c', 'd', 'a'], 'then the index says what is stored');
  assert.deepEqual(namesOf(db), ['1 a', '2 b', '3 c', '4 d']);
});

test('a database that has names keeps the indexes of keys', (t) => {
  const path = join(temporaryFolder(t), 'intelligence.db');
  prepareDatabaseFile('intelligence', path);
  const before = openWriter(path);
  createDictionaries(before).transaction(() => before.exec("insert into domains (name) values ('a.example')"));
  before.close();
  deferIndexes(path);
  const db = openWriter(path);
  t.after(() => db.close());
  assert.ok(!areKeysDeferred(db));
});
