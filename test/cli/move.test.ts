import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../../tools/shared/server-process.ts';
import { makeDatabase } from '../servers/temporary-database.ts';
import { temporaryControl } from '../temporary-control.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { urlwarden } from './urlwarden.ts';

test('after move, commands print the same for the database as for the folder', async (t) => {
  const dataDir = temporaryFolder(t);
  const databaseUrl = await makeDatabase();
  const [folder, database] = [
    ['--data', dataDir],
    ['--database-url', databaseUrl],
  ];
  await urlwarden(['account', 'add', 'ada', ...folder], 'pw');
  await urlwarden(['import', 'url-list', '-', '--as-of', '1767225600', ...folder], 'http://192.0.2.1/x\n');
  await urlwarden(['listing', 'add', '203.0.113.7', '--dataset', 'BCL', '--allow-reserved', ...folder]);
  await urlwarden(['listing', 'remove', '203.0.113.7', ...folder]);
  const named = '{"ts":1767225600,"domain":"cc.bad.example","kind":"botnetcc","feed":"c2"}\n';
  await urlwarden(['import', 'ndjson', '-', ...folder], named);
  await urlwarden(['allow', 'add', '198.51.100.0/24', '--reason', 'ours', ...folder]);
  await urlwarden(['domain', 'set', 'bad.example', '--human', '-5', '--reason', 'ticket 1', ...folder]);
  const moved = await urlwarden(['move', '--from', dataDir, '--to', databaseUrl]);
  assert.deepEqual([moved.code, moved.stderr], [0, '']);
  assert.match(
    moved.stdout,
    /^\d+ rows, including 1 URL and 1 account, are identical in \S+ and PostgreSQL 127\.0\.0\.1:\d+\/\w+\.\n/,
  );
  assert.match(moved.stdout, /The move is finished/);
  assert.ok(!moved.stdout.includes('postgres@'), 'no user and no password');
  for (const command of [
    ['account', 'list', '--json'],
    ['export'],
    ['import', 'list', '--json'],
    ['tier', 'list'],
    ['listing', 'show', '203.0.113.7'],
    ['allow', 'list'],
    ['domain', 'show', 'bad.example', '--json'],
  ]) {
    const [before, after] = [await urlwarden([...command, ...folder]), await urlwarden([...command, ...database])];
    assert.deepEqual([after.code, after.stdout], [0, before.stdout], command.join(' '));
    assert.notEqual(after.stdout, '');
  }
  const added = await urlwarden(['import', 'url-list', '-', '--json', ...database], 'http://192.0.2.2/y\n');
  assert.equal(JSON.parse(added.stdout).urlsAdded, 1);
});

test('a move beside a server is not finished: it has its own exit code and says which process to stop', async (t) => {
  const dataDir = temporaryFolder(t);
  const databaseUrl = await makeDatabase();
  const server = await startServer(dataDir);
  const args = ['move', '--from', dataDir, '--to', databaseUrl];
  try {
    const { pid } = server.child;
    const beside = await urlwarden(args);
    assert.equal(beside.code, 3);
    const command = String.raw`process ${pid} \(node urlwarden\.js serve\)`;
    assert.match(beside.stdout, new RegExp(`The move is not finished: ${command} still has \\S+ open\\. Stop it`));
    const json = JSON.parse((await urlwarden([...args, '--json'])).stdout);
    assert.deepEqual([json.isFinished, json.openBy], [false, [{ pid, command: 'node urlwarden.js serve' }]]);
  } finally {
    await server.stop();
  }
  const after = await urlwarden([...args, '--json']);
  assert.deepEqual([after.code, JSON.parse(after.stdout).openBy], [0, []]);
});

test('backup of a PostgreSQL database is refused and refers to its own tools', async (t) => {
  const databaseUrl = await makeDatabase();
  const { code, stderr } = await urlwarden(['backup', `${temporaryFolder(t)}/b.db`, '--database-url', databaseUrl]);
  assert.equal(code, 2);
  assert.match(stderr, /^This command works on a data folder.*For PostgreSQL use its own tools/);
});

for (const { why, args, stderr } of [
  { why: 'no folder', args: [], stderr: /^--from DIR is missing\n/ },
  {
    why: 'no database',
    args: ['--from', 'x'],
    stderr: /^--to URL is missing, and URLWARDEN_DATABASE_URL is not set\n/,
  },
  {
    why: 'not PostgreSQL',
    args: ['--from', 'x', '--to', 'mysql://root:secret@h/x'],
    stderr: /^--to must be like postgres:/,
  },
]) {
  test(`an invalid move is explained: ${why}`, async () => {
    const outcome = await urlwarden(['move', ...args]);
    assert.equal(outcome.code, 2);
    assert.match(outcome.stderr, stderr);
    assert.ok(!outcome.stderr.includes('secret'));
  });
}

test('an unreachable database is reported in one line, without the password', async (t) => {
  const args = ['account', 'list', '--database-url', 'postgres://u:secret@127.0.0.1:1/x'];
  const { code, stderr } = await urlwarden(args);
  assert.equal(code, 1);
  assert.equal(stderr.split('\n').length, 2, stderr);
  assert.ok(!stderr.includes('secret'));
  const dataDir = temporaryFolder(t);
  await temporaryControl(t, dataDir);
  assert.ok(!(await urlwarden(['account', 'list', '--data', dataDir])).code);
});
