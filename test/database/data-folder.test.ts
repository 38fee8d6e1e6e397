import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openControl, openIntelligence } from '../../src/app/stores.ts';
import { backupData, restoreData } from '../../src/database/backup.ts';
import { dataFiles, makeFolder, requireData } from '../../src/database/data-folder.ts';
import { prepareDatabaseFile } from '../../src/database/sqlite/database-file.ts';
import { PROGRAM } from '../cli/urlwarden.ts';
import { NOBODY } from '../servers/postgres.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Without root there is no other user: then a folder is closed to its owner too. */
function asOtherUser(work: () => void): void {
  if (NOBODY.uid) process.seteuid?.(NOBODY.uid);
  try {
    work();
  } finally {
    if (NOBODY.uid) process.seteuid?.(0);
  }
}

test('a folder that this user may not open is neither empty nor missing', (t: TestContext) => {
  const dataDir = join(temporaryFolder(t), 'data');
  mkdirSync(dataDir);
  chmodSync(dataDir, 0);
  const message =
    `This user may not open the data folder ${dataDir}: ` +
    'run this command as the user that the data belongs to, or as root';
  asOtherUser(() => {
    assert.throws(() => requireData(dataDir), { message });
    assert.throws(() => makeFolder(dataDir), { message });
  });
  chmodSync(dataDir, 0o700);
});

test('a folder is created with those around it; one that cannot be created is refused', (t: TestContext) => {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, 'a', 'b');
  makeFolder(dataDir);
  makeFolder(dataDir);
  for (const created of [dataDir, dirname(dataDir)]) assert.equal(statSync(created).mode & 0o777, 0o700);

  writeFileSync(join(folder, 'file'), '');
  symlinkSync(join(folder, 'missing'), join(folder, 'link'));
  const [file, link] = ['file', 'link'].map(
    (name) => `${join(folder, name)} is a file, or a link to a folder that does not exist`,
  );
  const refusals = { file, 'file/data': file, link, 'link/data': link };
  for (const [path, problem] of Object.entries(refusals)) assertRefused(join(folder, path), problem);
  if (existsSync('/proc/self'))
    assertRefused('/proc/self/data', "ENOENT: no such file or directory, mkdir '/proc/self/data'");

  chmodSync(folder, 0o555);
  const own = join(folder, 'own');
  asOtherUser(() => {
    const message = `This user may not create the data folder ${own}: set another one with --data`;
    assert.throws(() => makeFolder(own), { message });
  });
  chmodSync(folder, 0o700);

  function assertRefused(path: string, problem = ''): void {
    assert.throws(() => makeFolder(path), { message: `The data folder ${path} cannot be created: ${problem}` });
  }
});

test('a folder in which this user may not create files is named', async (t: TestContext) => {
  const dataDir = join(temporaryFolder(t), 'data');
  mkdirSync(dataDir);
  await (await openControl({ dataDir })).close();
  const { control } = dataFiles(dataDir);
  chmodSync(dirname(dataDir), 0o755);
  chmodSync(dataDir, 0o555);
  chmodSync(control, 0o666);
  asOtherUser(() => assert.throws(() => prepareDatabaseFile('control', control), isExplained));
  chmodSync(dataDir, 0o700);

  function isExplained({ message }: Error): boolean {
    const advice = 'check that this user may write to it, to the files beside it and to its folder';
    return message.startsWith(`The database ${control} cannot be used (`) && message.endsWith(`): ${advice}`);
  }
});

test('root creates the files of a folder for its owner', { skip: !NOBODY.uid }, async (t: TestContext) => {
  const folder = temporaryFolder(t);
  const [dataDir, restored, file] = [join(folder, 'data'), join(folder, 'restored'), join(folder, 'backup.db')];
  for (const dir of [dataDir, restored]) {
    mkdirSync(dir);
    chownSync(dir, NOBODY.uid ?? 0, NOBODY.gid ?? 0);
  }
  const stores = [await openIntelligence({ dataDir }), await openControl({ dataDir })];
  assert.deepEqual(owners(dataDir), new Set([NOBODY.uid]));
  await Promise.all(stores.map((store) => store.close()));
  await backupData({ dataDir, file });
  assert.equal(statSync(file).uid, 0, 'a backup belongs to whoever made it');
  await restoreData({ file, dataDir: restored });
  assert.deepEqual(owners(restored), new Set([NOBODY.uid]));
});

test('root without the right to change owners uses the folder of another user', { skip: !canDropRights() }, (t) => {
  const dataDir = join(temporaryFolder(t), 'data');
  mkdirSync(dataDir);
  chownSync(dataDir, NOBODY.uid ?? 0, NOBODY.gid ?? 0);
  const args = ['tier', 'set', 'small', '--qms', '1', '--qmh', '1', '--data', dataDir];
  const { status, stderr } = withoutChown([process.execPath, PROGRAM, ...args]);
  assert.equal(status, 0, `${stderr}`);
});

/** As in a container of `docker run --cap-drop CHOWN`. */
function withoutChown(command: string[]) {
  return spawnSync('setpriv', ['--bounding-set=-chown', '--inh-caps=-chown', ...command]);
}

function canDropRights(): boolean {
  return NOBODY.uid !== undefined && withoutChown(['true']).status === 0;
}

function owners(folder: string): Set<number> {
  return new Set(readdirSync(folder).map((name) => statSync(join(folder, name)).uid));
}
