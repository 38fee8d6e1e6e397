import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync } from 'node:fs';
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
