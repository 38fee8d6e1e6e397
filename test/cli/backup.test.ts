import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { temporaryFolder } from '../temporary-folder.ts';
import { onTerminal } from './on-terminal.ts';
import { urlwarden } from './urlwarden.ts';

test('backup writes one private file, and restore creates a folder with the same accounts from it', async (t) => {
  const folder = temporaryFolder(t);
  const [data, file, restored] = ['data', 'backup.db', 'restored'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const empty = await urlwarden(['backup', file, '--data', data]);
  assert.deepEqual([empty.code, empty.stderr], [1, `There is no data in ${data}: set the data folder with --data\n`]);

  await urlwarden(['account', 'add', 'ada', '--data', data], 'pw');
  const backup = await urlwarden(['backup', file, '--data', data]);
  assert.deepEqual([backup.code, backup.stderr], [0, ''], 'no progress without a terminal');
  assert.match(backup.stdout, /^Wrote .*backup\.db: \d+\.\d MB\n$/);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const again = await urlwarden(['backup', file, '--data', data]);
  assert.deepEqual([again.code, again.stderr], [1, `${file} already exists: choose another name, or remove it\n`]);

  assert.equal((await urlwarden(['restore', file, '--data', data])).code, 1);
  assert.equal((await urlwarden(['restore', file, '--data', restored])).code, 0);
  const [before, after] = await Promise.all(
    [data, restored].map((dir) => urlwarden(['account', 'list', '--json', '--data', dir])),
  );
  assert.equal(after?.stdout, before?.stdout);
  assert.equal(JSON.parse(after?.stdout ?? '').length, 1);
});

test('backup and restore say what is wrong with the name of a file, and create nothing', async (t) => {
  const folder = temporaryFolder(t);
  const [data, file, packed] = [join(folder, 'data'), join(folder, 'backup.db'), join(folder, 'backup.db.gz')];
  await urlwarden(['account', 'add', 'ada', '--data', data], 'pw');
  await urlwarden(['backup', file, '--data', data]);
  writeFileSync(packed, gzipSync(readFileSync(file)));
  const before = readdirSync(folder);
  const noFile = (name: string) => `FILE must be the name of a file, not "${name}"`;
  const cases: [args: string[], code: number, message: string][] = [
    [['backup', 'none/backup.db'], 1, 'There is no folder none: create it first'],
    [['backup', ''], 2, noFile('')],
    [['backup', '-'], 2, noFile('-')],
    [['restore', '-'], 2, noFile('-')],
    [['restore', 'data'], 1, 'data is not a file: name the backup in it'],
    [['restore', packed], 1, `${packed} cannot be restored: it is not a backup, or it is packed: unpack it first`],
  ];
  for (const [args, code, message] of cases) {
    const dataDir = args[0] === 'backup' ? 'data' : 'new';
    const outcome = await urlwarden([...args, '--data', dataDir], '', { cwd: folder });
    assert.deepEqual([outcome.code, outcome.stderr.split('\n')[0], outcome.stdout], [code, message, '']);
  }
  assert.deepEqual(
    readdirSync(folder).filter((name) => name !== 'new'),
    before,
  );
});

test('on a terminal a backup shows what it does, and leaves only its result', async (t) => {
  const folder = temporaryFolder(t);
  const [data, file] = [join(folder, 'data'), join(folder, 'backup.db')];
  await urlwarden(['account', 'add', 'ada', '--data', data], 'pw');
  const { code, written } = await onTerminal(['backup', file, '--data', data]);
  assert.equal(code, 0);
  assert.match(written, /\[#{24}\] copied; the copy is checked/);
  assert.match(written.split('\r\u001b[K').at(-1) ?? '', /^Wrote .*backup\.db: \d+\.\d MB\r+\n$/);
});
