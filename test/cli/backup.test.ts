import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
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

test('on a terminal a backup shows what it does, and leaves only its result', async (t) => {
  const folder = temporaryFolder(t);
  const [data, file] = [join(folder, 'data'), join(folder, 'backup.db')];
  await urlwarden(['account', 'add', 'ada', '--data', data], 'pw');
  const { code, written } = await onTerminal(['backup', file, '--data', data]);
  assert.equal(code, 0);
  assert.match(written, /\[#{24}\] copied; the copy is checked/);
  assert.match(written.split('\r\u001b[K').at(-1) ?? '', /^Wrote .*backup\.db: \d+\.\d MB\r+\n$/);
});
