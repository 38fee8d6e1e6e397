import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openControl } from '../../src/app/stores.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { openReader } from '../../src/database/sqlite/database.ts';
import { createReadFreshness } from '../../src/ingest/sqlite/imports.ts';
import { NO_COUNTS } from '../../src/ingest/store.ts';
import { emptyDataFolder } from '../empty-folder.ts';

test('to ask again how fresh the data is reads nothing, unless the database was written', async (t) => {
  const dataDir = emptyDataFolder(t);
  const control = await openControl({ dataDir });
  t.after(() => control.close());
  const db = openReader(dataFiles(dataDir).control);
  t.after(() => db.close());
  let reads = 0;
  const prepare: typeof db.prepare = (sql) => {
    const statement = db.prepare<never>(sql);
    const one: typeof statement.one = (...params) => {
      reads++;
      return statement.one(...params);
    };
    return { ...statement, one };
  };
  const freshness = createReadFreshness({ ...db, prepare });
  const asked = async () => {
    await new Promise(setImmediate); // the read transaction ends
    return freshness();
  };
  const none = { newestEventTs: null, confirmedTs: null };
  assert.deepEqual([await asked(), await asked(), reads], [none, none, 1]);
  const id = await control.importStarted({ format: 'misp', feed: 'feed', source: 'file', startedTs: 1 });
  const counts = { ...NO_COUNTS, newestEventTs: 5, confirmedTs: 7 };
  await control.importFinished(id, { finishedTs: 9, outcome: 'done', counts, error: null });
  const fresh = { newestEventTs: 5, confirmedTs: 7 };
  assert.deepEqual([await asked(), await asked(), reads], [fresh, fresh, 2]);
});
