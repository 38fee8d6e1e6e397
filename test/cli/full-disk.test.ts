import assert from 'node:assert/strict';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openControl, openIntelligence } from '../../src/app/stores.ts';
import { paths } from '../../src/core/paths.ts';
import { backupData, restoreData } from '../../src/database/backup.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { urlhausDump } from '../../tools/shared/urlhaus-dump.ts';
import { smallDisk, testsOnSmallDisks } from '../small-disk.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { seen } from '../urls/contract/observations.ts';
import { startReusedServer, tokenOf } from './server.ts';
import { urlwarden, urlwardenAlone } from './urlwarden.ts';

const ADA = { username: 'ada', password: 'secret' };
const TOO_LITTLE = /^The disk of \S+ has \d+ MB left, but \d+ MB must be free, .*Free some space/m;
const logBytes = (path: string) => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;

testsOnSmallDisks(import.meta.url, () => {
  test('an import stops before the disk is full, gives its log back, and completes when there is space', async (t) => {
    const disk = smallDisk(t, 30);
    const dataDir = join(disk.folder, 'data');
    const { intelligence } = dataFiles(dataDir);
    const dump = join(temporaryFolder(t), 'dump.csv');
    writeFileSync(dump, [...urlhausDump({ rows: 10_000, seed: 1 })].join(''));
    const importDump = (into: string) => urlwarden(['import', 'urlhaus-csv', dump, '--json', '--data', into]);
    assert.equal((await urlwarden(['account', 'add', 'ada', '--data', dataDir], 'secret\n')).code, 0);
    const { url } = await startReusedServer(t, ['--data', dataDir]);
    disk.fill(9_000_000); // a fifth of 30 MB must stay free

    const refused = await importDump(dataDir);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, TOO_LITTLE);
    assert.ok(refused.stderr.includes(dataDir), refused.stderr);
    assert.equal(logBytes(intelligence), 0);
    const imports = JSON.parse((await urlwarden(['import', 'list', '--json', '--data', dataDir])).stdout);
    assert.match(JSON.stringify(imports), /"outcome":"failed"/);
    assert.equal((await urlwarden(['account', 'disable', 'ada', '--data', dataDir])).code, 0);
    assert.equal((await fetch(url + paths.readyz)).status, 200, 'only imports are refused');

    disk.free();
    const repeated = await importDump(dataDir);
    assert.equal(repeated.code, 0, repeated.stderr);
    const elsewhere = temporaryFolder(t);
    assert.equal((await importDump(elsewhere)).code, 0);
    const exported = await Promise.all([dataDir, elsewhere].map((from) => urlwarden(['export', '--data', from])));
    assert.ok(exported[0]?.stdout !== '' && exported[0]?.stdout === exported[1]?.stdout, 'the data is the same');
    const { urlsAdded } = JSON.parse(repeated.stdout);
    assert.ok(urlsAdded > 0 && urlsAdded < 10_000, `${urlsAdded}: the first import had stored some batches`);
  });

  test('a full folder for temporary files: the import fails with its name and advice', async (t) => {
    const disk = smallDisk(t, 1);
    const folder = temporaryFolder(t);
    const list = join(folder, 'list.txt');
    writeFileSync(list, Array.from({ length: 40_000 }, (_, i) => `http://a.example/a-long-path/${i}\n`).join(''));
    const zip = `PK\x03\x04${'0'.repeat(2 ** 21)}`;
    const env = { TMPDIR: disk.folder };
    const message = `The folder for temporary files, ${disk.folder}, is full: make space in it, or set the variable TMPDIR to another folder`;
    const complete = ['url-list', list, '--complete', '--feed', 'f'];
    for (const [args, input] of [[complete], [['url-list', '-'], zip]] as const) {
      const { code, stderr } = await urlwardenAlone(['import', ...args, '--data', join(folder, 'data')], input, {
        env,
      });
      assert.ok(code === 1 && stderr.includes(message), stderr);
    }
  });

  test('on a full disk a server answers, is not ready, keeps its counts, and recovers', async (t) => {
    const disk = smallDisk(t, 10);
    const dataDir = join(disk.folder, 'data');
    assert.equal((await urlwarden(['account', 'add', 'ada', '--data', dataDir], 'secret\n')).code, 0);
    const store = await openIntelligence({ dataDir });
    await store.apply([seen({ ts: 10, url: 'http://a.example/' })]);
    await store.close();
    const server = await startReusedServer(t, ['--data', dataDir]);
    const { url } = server;
    const headers = { authorization: `Bearer ${await tokenOf(url, ADA)}` };
    const body = '{"url":"http://a.example/"}';
    const look = async () => (await fetch(url + paths.urlLast, { method: 'POST', headers, body })).status;
    const ready = async () => (await fetch(url + paths.readyz)).status;
    const show = async () => (await urlwarden(['account', 'show', 'ada', '--json', '--data', dataDir])).stdout;
    assert.equal(await ready(), 200);

    disk.fill();
    assert.equal(await ready(), 503);
    const { message } = (await (await fetch(url + paths.readyz)).json()) as { message: string };
    assert.equal(message, 'The disk is full: accounts and counters cannot be written');
    // A checkpoint of the server may leave room in the log for some changes.
    let errors = '';
    for (let i = 0; errors === '' && i < 20; i++) {
      disk.fill();
      errors = (await urlwarden(['account', 'add', `eve${i}`, '--data', dataDir], 'secret\n')).stderr;
    }
    assert.match(errors, /^The disk of \S+control\.db is full: free some space, .*\n$/);
    disk.fill(); // what the failed change gave back
    assert.equal(await look(), 200);
    await until(async () => /The disk of \S+control\.db is full/.test(server.stderr()), 'the flush failed');
    assert.equal(await look(), 200);
    assert.match(await show(), /"day":0/);

    disk.free();
    assert.equal(await ready(), 200);
    await until(async () => /"day":2/.test(await show()), 'the counts were written');
    assert.equal((await urlwarden(['account', 'disable', 'ada', '--data', dataDir])).code, 0);
    assert.equal(await server.stop('SIGTERM'), 0);
  });

  test('commands that cannot start on a full disk name the file and say that its disk is full', async (t) => {
    const disk = smallDisk(t, 10);
    const dataDir = join(disk.folder, 'data');
    assert.equal((await urlwarden(['import', 'url-list', '-', '--data', dataDir], 'http://a.example/\n')).code, 0);
    assert.deepEqual(readdirSync(dataDir).sort(), ['control.db', 'intelligence.db'], 'no shared memory is left');
    disk.fill();
    const commands = [['account', 'list'], ['export'], ['import', 'url-list', '-'], ['serve', '--port', '0']];
    for (const args of commands) {
      const { code, stderr } = await urlwarden([...args, '--data', dataDir], 'http://a.example/\n');
      assert.equal(code, 1, args.join(' '));
      assert.match(stderr, /^The disk of \S+\/(?:control|intelligence)\.db is full: free some space, .*\n$/);
    }
    const newDir = join(disk.folder, 'new');
    await assert.rejects(openIntelligence({ dataDir: newDir }), /is full/);
    assert.deepEqual(readdirSync(newDir), [], 'an empty file would be refused later');
  });

  test('a batch that fills the disk is rolled back, and its log is given back', async (t) => {
    const disk = smallDisk(t, 10);
    const dataDir = join(disk.folder, 'data');
    const store = await openIntelligence({ dataDir });
    t.after(() => store.close());
    const batch = (from: number, size: number) =>
      Array.from({ length: size }, (_, n) =>
        seen({ ts: 10, url: `http://a.example/${from + n}/${'x'.repeat(2_000)}` }),
      );
    await store.apply(batch(0, 10));
    assert.ok((store.freeBytes() ?? 0) > 8_000_000);
    await assert.rejects(store.apply(batch(100, 4_000)), {
      code: 'unavailable',
      message: /The disk of .*intelligence\.db is full/,
    });
    assert.equal(logBytes(dataFiles(dataDir).intelligence), 0);
    assert.ok((store.freeBytes() ?? 0) > 8_000_000);
    await store.ready();
    assert.equal((await store.apply(batch(0, 20))).urlsAdded, 10);
    disk.fill();
    await assert.rejects(store.ready(), { code: 'not_ready', message: /^The disk is full/ });
    assert.notEqual(await store.urlId(batch(0, 1)[0]?.url ?? ''), null);
  });

  test('rejects are not stored, and nothing is backed up or restored, into the reserve', async (t) => {
    const disk = smallDisk(t, 10);
    const dataDir = join(disk.folder, 'data');
    for (const open of [openIntelligence, openControl]) await (await open({ dataDir })).close();
    const backup = join(temporaryFolder(t), 'backup.db');
    await backupData({ dataDir, file: backup });
    disk.fill(1_900_000);
    const rejected = await urlwarden(['import', 'url-list', '-', '--data', dataDir], 'not a URL\n');
    assert.equal(rejected.code, 1);
    assert.match(rejected.stderr, TOO_LITTLE);
    const rebuilt = await urlwarden(['domain', 'rebuild', '--data', dataDir]);
    assert.match(rebuilt.stderr, TOO_LITTLE);
    assert.match(rebuilt.stderr, /already stored stays\. Run the same command again to continue\.\n$/);
    assert.doesNotMatch(rebuilt.stderr, /Creating the indexes/, 'the refused import has not dropped them');
    await assert.rejects(
      backupData({ dataDir, file: join(disk.folder, 'backup.db') }),
      /cannot be written: The disk of/,
    );
    await assert.rejects(
      restoreData({ file: backup, dataDir: join(disk.folder, 'r') }),
      /cannot be restored: The disk of/,
    );
    assert.deepEqual(readdirSync(disk.folder).sort(), ['data', 'filler', 'r']);
    assert.deepEqual(readdirSync(join(disk.folder, 'r')), []);
  });
});
