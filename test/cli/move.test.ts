import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeDatabase } from '../servers/temporary-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { urlwarden } from './urlwarden.ts';

test('a folder is moved as a person types it, and every command then works on the database', async (t) => {
  const dataDir = temporaryFolder(t);
  const databaseUrl = await makeDatabase();
  const [folder, database] = [
    ['--data', dataDir],
    ['--database-url', databaseUrl],
  ];
  await urlwarden(['account', 'add', 'ada', ...folder], 'pw');
  await urlwarden(['import', 'url-list', '-', '--as-of', '1767225600', ...folder], 'http://192.0.2.1/x\n');
  const moved = await urlwarden(['move', '--from', dataDir, '--to', databaseUrl]);
  assert.deepEqual([moved.code, moved.stderr], [0, '']);
  assert.match(moved.stdout, /1 URLs and 1 accounts among them, are the same in PostgreSQL 127\.0\.0\.1:\d+\/\w+\./);
  assert.match(moved.stdout, /The move is finished/);
  assert.ok(!moved.stdout.includes('postgres@'), 'no user, no password');
  for (const command of [['account', 'list', '--json'], ['export'], ['import', 'list', '--json'], ['tier', 'list']]) {
    const [before, after] = [await urlwarden([...command, ...folder]), await urlwarden([...command, ...database])];
    assert.deepEqual([after.code, after.stdout], [0, before.stdout], command.join(' '));
    assert.notEqual(after.stdout, '');
  }
  const added = await urlwarden(['import', 'url-list', '-', '--json', ...database], 'http://192.0.2.2/y\n');
  assert.equal(JSON.parse(added.stdout).urlsAdded, 1);
});

test('what PostgreSQL does itself is told', async (t) => {
  const databaseUrl = await makeDatabase();
  const { code, stderr } = await urlwarden(['backup', `${temporaryFolder(t)}/b.db`, '--database-url', databaseUrl]);
  assert.equal(code, 2);
  assert.match(stderr, /^The data is in PostgreSQL, whose own tools do this/);
});

for (const { why, args, stderr } of [
  { why: 'no folder', args: [], stderr: /^--from DIR is missing/ },
  { why: 'no database', args: ['--from', 'x'], stderr: /^--to must be like postgres:/ },
  {
    why: 'no such database',
    args: ['--from', 'x', '--to', 'mysql://root:secret@h/x'],
    stderr: /^--to must be like [^s]*/,
  },
]) {
  test(`a mistyped move is explained: ${why}`, async () => {
    const told = await urlwarden(['move', ...args]);
    assert.equal(told.code, 2);
    assert.match(told.stderr, stderr);
    assert.ok(!told.stderr.includes('secret'));
  });
}

test('a database that is not there is told in a sentence', async (t) => {
  const args = ['account', 'list', '--database-url', 'postgres://u:secret@127.0.0.1:1/x'];
  const { code, stderr } = await urlwarden(args);
  assert.equal(code, 1);
  assert.equal(stderr.split('\n').length, 2, stderr);
  assert.ok(!stderr.includes('secret'));
  assert.ok(!(await urlwarden(['account', 'list', '--data', temporaryFolder(t)])).code);
});
