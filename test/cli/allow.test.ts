import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../temporary-folder.ts';
import { urlwarden } from './urlwarden.ts';

function open(t: TestContext) {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, 'data');
  const run = (...args: string[]) => urlwarden(['allow', ...args, '--data', dataDir]);
  const networks = async () =>
    JSON.parse((await run('list', '--json')).stdout).map(({ network, source, reason }: Record<string, string>) => [
      network,
      source,
      reason,
    ]);
  return { folder, dataDir, run, networks };
}

describe('urlwarden allow', { concurrency: 2 }, () => {
  it('add, list and remove', async (t) => {
    const { run, networks, dataDir } = open(t);
    const added = await run('add', '203.0.113.7/24', '--reason', 'our mail servers');
    assert.deepEqual(added, {
      code: 0,
      stdout: '203.0.113.0/24 is on the allow list.\n',
      stderr: `Created the data folder ${dataDir}\n`,
    });
    const json = JSON.parse((await run('add', '2001:db8::1', '--json')).stdout);
    assert.deepEqual({ ...json, ts: 0 }, { network: '2001:db8::1', source: 'operator', ts: 0, reason: '' });
    await run('add', '192.0.2.1');
    await run('add', '192.0.2.1', '--reason', 'again');
    assert.deepEqual(await networks(), [
      ['192.0.2.1', 'operator', 'again'],
      ['203.0.113.0/24', 'operator', 'our mail servers'],
      ['2001:db8::1', 'operator', ''],
    ]);
    const { stdout } = await run('list');
    assert.match(stdout, /^NETWORK +SOURCE +SINCE\n192\.0\.2\.1 +operator +20\S+Z\n {2}again\n/);
    const removed = await run('remove', '203.0.113.0/24');
    assert.deepEqual(removed, { code: 0, stdout: '203.0.113.0/24 is no longer on the allow list.\n', stderr: '' });
    assert.deepEqual(
      (await networks()).map(([network]: string[]) => network),
      ['192.0.2.1', '2001:db8::1'],
    );
  });

  it('import replaces the older version of a list; add and remove leave other lists alone', async (t) => {
    const { folder, dataDir, run, networks } = open(t);
    await urlwarden(['import', 'ip-list', '-', '--as', 'shared', '--data', dataDir], '192.0.2.77\n');
    const [list, warning] = [join(folder, 'own.txt'), join(folder, 'list.json')];
    writeFileSync(list, '# ours\n192.0.2.0/24\n198.51.100.1\n');
    writeFileSync(warning, JSON.stringify({ name: 'Resolvers', type: 'cidr', list: ['192.0.2.53/32'] }));
    for (const [format, file] of [
      ['ip-list', list],
      ['misp-warninglist', warning],
    ] as const) {
      const { code, stdout, stderr } = await run('import', format, file, '--as-of', '1700000000');
      assert.deepEqual([code, stderr], [0, ''], stdout);
    }
    await run('add', '198.51.100.1');
    assert.deepEqual(await networks(), [
      ['192.0.2.0/24', 'own', ''],
      ['192.0.2.53', 'Resolvers', 'Resolvers'],
      ['198.51.100.1', 'operator', ''],
      ['198.51.100.1', 'own', ''],
    ]);
    writeFileSync(list, '198.51.100.2\n');
    await run('import', 'ip-list', list);
    const both = await run('remove', '192.0.2.53');
    assert.match(both.stdout, /no longer on the allow list\. The next import of Resolvers adds it again\.\n$/);
    assert.deepEqual(await networks(), [
      ['198.51.100.1', 'operator', ''],
      ['198.51.100.2', 'own', ''],
    ]);
  });

  it('mistakes are explained', async (t) => {
    const { dataDir, run } = open(t);
    const missing = await run('list');
    const noData = `There is no data in ${dataDir}: set the data folder with --data, or import a file first: urlwarden import FORMAT FILE\n`;
    assert.deepEqual(missing, { code: 1, stdout: '', stderr: noData });
    await run('add', '203.0.113.0/24');
    for (const [args, code, message] of [
      [['add', 'a.example'], 2, /^NETWORK must be like 203\.0\.113\.7, .* "a\.example" is no IP address/],
      [['add', '0.0.0.0/0'], 2, /^NETWORK must be like .* "0\.0\.0\.0\/0" is wider than \/8/],
      [['add', '192.0.2.1', '--reason', 'a\nb'], 2, /^--reason: control characters/],
      [['remove', '192.0.2.1'], 1, /^192\.0\.2\.1 is not on an allow list\. See: urlwarden allow list\n/],
      [
        ['remove', '203.0.113.9'],
        1,
        /^203\.0\.113\.9 is not on an allow list\. It is inside 203\.0\.113\.0\/24, which is\./,
      ],
      [['remove', '203.0.0.0/16'], 1, /It contains 203\.0\.113\.0\/24, which is\./],
      [['import', 'urlhaus-csv', 'x.csv'], 2, /^FORMAT must be ip-list or misp-warninglist, not "urlhaus-csv"\n/],
      [['import', 'ip-list'], 2, /^FILE, URL or - is missing\n/],
    ] as const) {
      const outcome = await run(...args);
      assert.equal(outcome.code, code, args.join(' '));
      assert.match(outcome.stderr, message);
    }
    assert.match((await run('remove', '203.0.113.0/24')).stdout, /no longer/);
    assert.match((await run('list')).stdout, /^The allow list is empty\. Add a network with: urlwarden allow add/);
  });
});
