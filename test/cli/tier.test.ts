import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { DATASETS } from '../../src/core/tier.ts';
import { temporaryControl } from '../temporary-control.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { urlwarden } from './urlwarden.ts';

function open(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const run = (args: string[], stdin = '') => urlwarden([...args, '--data', dataDir], stdin);
  return { dataDir, run, tier: (...args: string[]) => run(['tier', ...args]) };
}

describe('urlwarden tier', () => {
  it('list shows the built-in tiers with their rates', async (t) => {
    const { dataDir, tier } = open(t);
    await temporaryControl(t, dataDir);
    const { code, stdout } = await tier('list');
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^standard +100000 +150000 +625 +5000 +20000\n {2}datasets URL, XBL, CSS, BCL, DROP, DOMAIN; access level base$/m,
    );
    assert.match(stdout, /^operator( +2147483647){5}$/m);
    const list = JSON.parse((await tier('list', '--json')).stdout);
    const rates = { rl_qps: 21, rl_qpm: 166, rl_qph: 664 };
    assert.deepEqual(list[0], {
      name: 'developer',
      built_in: true,
      trs: 'base',
      ads: DATASETS,
      qms: 5_000,
      qmh: 5_000,
      ...rates,
    });
  });

  it('set creates a tier with default rates, and replaces all limits of an existing one', async (t) => {
    const { tier } = open(t);
    const first = await tier(
      'set',
      'gold',
      '--qms',
      '10',
      '--qmh',
      '3000',
      '--rl-qps',
      '9',
      '--ads',
      'url,Drop,URL',
      '--trs',
      'x',
    );
    assert.equal(
      first.stdout,
      'The tier gold has 10 (soft) and 3000 (hard) queries a month, 9 a second, 100 a minute, 400 an hour.\n',
    );
    const all = async () => JSON.parse((await tier('list', '--json')).stdout).slice(4);
    const limits = { qms: 10, qmh: 3_000, rl_qps: 9, rl_qpm: 100, rl_qph: 400 };
    assert.deepEqual(await all(), [{ name: 'gold', built_in: false, trs: 'x', ads: ['URL', 'DROP'], ...limits }]);
    const second = await tier(
      'set',
      'gold',
      '--qms',
      '0',
      '--qmh',
      '2147483647',
      '--rl-qpm',
      '1',
      '--rl-qph',
      '2',
      '--json',
    );
    const replaced = { qms: 0, qmh: 2_147_483_647, rl_qps: 8_947_849, rl_qpm: 1, rl_qph: 2 };
    assert.deepEqual(JSON.parse(second.stdout), {
      name: 'gold',
      built_in: false,
      trs: 'base',
      ads: DATASETS,
      ...replaced,
    });
    assert.deepEqual(await all(), [JSON.parse(second.stdout)]);
  });

  it('a tier may have no dataset', async (t) => {
    const { tier } = open(t);
    assert.deepEqual(
      JSON.parse((await tier('set', 'none', '--qms', '1', '--qmh', '1', '--ads', '', '--json')).stdout).ads,
      [],
    );
  });

  it('remove refuses a tier in use and names its accounts', async (t) => {
    const { run, tier } = open(t);
    await tier('set', 'gold', '--qms', '1', '--qmh', '1');
    await run(['account', 'add', 'ada', '--tier', 'gold'], 'pw');
    const { code, stderr } = await tier('remove', 'gold');
    assert.equal(code, 1);
    assert.match(stderr, /^The tier gold is in use by "ada": .*urlwarden account set USERNAME --tier NAME/);
    await run(['account', 'set', 'ada', '--tier', 'standard']);
    assert.deepEqual(await tier('remove', 'gold', '--json'), { code: 0, stdout: '{"name":"gold"}\n', stderr: '' });
    assert.match((await tier('remove', 'gold')).stderr, /^There is no tier "gold"/);
  });

  it('the name of a built-in tier ends with exit code 1, an invalid command line with 2', async (t) => {
    const { tier } = open(t);
    const good = ['--qms', '1', '--qmh', '1'];
    const refusals = [
      [['set', 'standard', ...good], 1, /built in/],
      [['remove', 'operator'], 1, /built in/],
      [['set', 'a b', ...good], 1, /not a valid tier name/],
      [['set', 'x', '--qms', '1'], 2, /^--qmh N is missing\n/],
      [['set', 'x', '--qmh', '1'], 2, /^--qms N is missing\n/],
      [['set', 'x', '--qms', '-1', '--qmh', '1'], 2, /^--qms must be a whole number from 0 .*, not "-1"\n/],
      [['set', 'x', '--qms', '1.5', '--qmh', '1'], 2, /^--qms must be a whole number from 0 to 2147483647/],
      [['set', 'x', '--qms', '1', '--qmh', '2147483648'], 2, /^--qmh must be a whole number/],
      [
        ['set', 'x', '--qms', '2', '--qmh', '1'],
        2,
        /^--qms must be at most the hard limit \(qmh\), 1, or .*, not "2"\n/,
      ],
      [['set', 'x', ...good, '--rl-qps', '0'], 2, /^--rl-qps must be a whole number from 1 to/],
      [
        ['set', 'x', ...good, '--ads', 'url,foo'],
        2,
        /^--ads must be some of URL, XBL, CSS, BCL, DROP, DOMAIN, separated by commas, not "url,foo"\n/,
      ],
      [['set', 'x', ...good, '--trs', ''], 2, /^--trs must be/],
      [['set', ...good], 2, /^NAME is missing/],
    ] as const;
    for (const [args, expected, reason] of refusals) {
      const { code, stdout, stderr } = await tier(...args);
      assert.deepEqual([code, stdout], [expected, ''], stderr);
      assert.match(stderr, reason);
    }
  });
});
