import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openControl, openIntelligence } from '../../src/app/stores.ts';
import { AppError } from '../../src/core/errors.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { seen } from '../urls/contract/observations.ts';
import { ADA, key } from './control-records.ts';

const OPEN = JSON.stringify(new URL('../../src/app/stores.ts', import.meta.url).href);

test('only the owner can read the files, also during a write', async (t) => {
  const dataDir = temporaryFolder(t);
  const control = await openControl({ dataDir });
  t.after(() => control.close());
  await control.addAccount(ADA);
  const modes = readdirSync(dataDir).map((name) => [name, (statSync(join(dataDir, name)).mode & 0o777).toString(8)]);
  assert.deepEqual(Object.fromEntries(modes), {
    'control.db': '600',
    'control.db-shm': '600',
    'control.db-wal': '600',
  });
});

test('processes that start concurrently agree on one key, and see the changes of the others', async (t) => {
  const dataDir = temporaryFolder(t);
  const nodes = ['a', 'b', 'c', 'd'].map((kid) =>
    outputOf(`
      const key = await control.ensureKey({ kid: '${kid}', secret: new Uint8Array(32), createdTs: 1 });
      await Promise.all(Array.from({ length: 25 }, () => control.addUsage([{ sub: '1', day: 1, month: 1, count: 1 }])));
      await control.addAccount({ ...${JSON.stringify(ADA)}, sub: '${kid}', usernameKey: '${kid}' });
      console.log(key.kid);`),
  );
  const control = await openControl({ dataDir });
  t.after(() => control.close());
  const before = await control.version();
  const kids = await Promise.all(nodes.map((run) => run(dataDir)));
  const [signing] = await control.keys();
  assert.deepEqual(kids, Array(4).fill(`${signing?.kid}\n`));
  assert.deepEqual(await control.usage('1', 1, 1), { day: 100, month: 100 });
  assert.equal((await control.accounts()).length, 4);
  assert.equal((await control.version()) - before, 5, 'one key and four accounts');
});

test('confirmed counts survive kill -9', async (t) => {
  const dataDir = temporaryFolder(t);
  const child = start(
    `for (let i = 1; ; i++) {
      await control.addUsage([{ sub: '1', day: 1, month: 1, count: 1 }]);
      process.stdout.write(i + '\\n');
    }`,
    dataDir,
  );
  let output = '';
  for await (const chunk of child.stdout) {
    output += chunk;
    if (output.split('\n').length > 200) break;
  }
  child.kill('SIGKILL');
  await once(child, 'exit');
  const answered = Number(output.trimEnd().split('\n').at(-1));
  const control = await openControl({ dataDir });
  const { day, month } = await control.usage('1', 1, 1);
  await control.close();
  assert.ok(day >= answered && day === month, `${answered} answered, ${day} of the day, ${month} of the month`);
  const db = new DatabaseSync(join(dataDir, 'control.db'));
  assert.deepEqual({ ...db.prepare('pragma integrity_check').get() }, { integrity_check: 'ok' });
  db.close();
});

test('counting continues while an import locks the other file', async (t) => {
  const dataDir = temporaryFolder(t);
  const [store, control] = [await openIntelligence({ dataDir }), await openControl({ dataDir })];
  const other = new DatabaseSync(join(dataDir, 'intelligence.db'));
  other.exec('begin immediate');
  const applied = store.apply([seen({ ts: 10, url: 'http://a.example/' })]);
  await control.addUsage([{ sub: '1', day: 1, month: 1, count: 1 }]);
  assert.deepEqual(await control.usage('1', 1, 1), { day: 1, month: 1 });
  assert.equal(await store.urlId('http://a.example/'), null, 'the import is still waiting');
  other.exec('rollback');
  other.close();
  assert.equal((await applied).urlsAdded, 1);
  await Promise.all([store.close(), control.close()]);
});

test('each file has the tables of its own migrations', async (t) => {
  const dataDir = temporaryFolder(t);
  for (const open of [openIntelligence, openControl]) await (await open({ dataDir })).close();
  const hasTable = (file: string, table: string) => {
    const db = new DatabaseSync(join(dataDir, file), { readOnly: true });
    const row = db.prepare('select 1 from sqlite_schema where name = ?').get(table);
    db.close();
    return row !== undefined;
  };
  assert.deepEqual(
    ['intelligence.db', 'control.db'].map((file) => [hasTable(file, 'urls'), hasTable(file, 'accounts')]),
    [
      [true, false],
      [false, true],
    ],
  );
});

test('version() throws after the file was moved away', async (t) => {
  const dataDir = temporaryFolder(t);
  const control = await openControl({ dataDir });
  t.after(() => control.close());
  await control.addKey(key('a', 1), 0);
  renameSync(join(dataDir, 'control.db'), join(dataDir, 'elsewhere.db'));
  await assert.rejects(control.version(), (error) => error instanceof AppError && error.code === 'unavailable');
});

function start(script: string, dataDir: string) {
  const program = `
    const { openControl } = await import(${OPEN});
    const control = await openControl({ dataDir: process.argv[1] });
    ${script}
    await control.close();`;
  // No --input-type: the writer thread would inherit it and then refuse to run a file.
  return spawn(process.execPath, ['-e', program, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
}

function outputOf(script: string): (dataDir: string) => Promise<string> {
  return async (dataDir) => {
    let output = '';
    for await (const chunk of start(script, dataDir).stdout) output += chunk;
    return output;
  };
}
