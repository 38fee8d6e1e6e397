import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { createSharedLoginFailures, createSharedLoginPenalty } from '../../src/accounts/login-shared.ts';
import { verifyPassword } from '../../src/accounts/passwords.ts';
import { windowIndex } from '../../src/core/quota.ts';
import { addAccount } from '../accounts/world.ts';
import { redisCounters } from '../limits/process-counters.ts';
import { temporaryLink, temporaryPrefix } from '../limits/temporary-redis-counters.ts';
import { freePort } from '../servers/child.ts';
import { redisServerUrl } from '../servers/urls.ts';
import { temporaryControl } from '../temporary-control.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { urlwarden } from './urlwarden.ts';

/** The control store, opened as a server has it, and commands on the same folder. */
async function open(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const control = await temporaryControl(t, dataDir);
  const account = (args: string[], stdin = '') => urlwarden(['account', ...args, '--data', dataDir], stdin);
  const json = async (args: string[], stdin = '') => JSON.parse((await account([...args, '--json'], stdin)).stdout);
  return { control, account, json };
}

describe('urlwarden account', () => {
  it('add reads the password from the first line of standard input', async (t) => {
    const { control, account } = await open(t);
    const before = await control.version();
    const { code, stdout, stderr } = await account(['add', 'Ada@Example'], 'pässword \r\nsecond line\n');
    assert.deepEqual([code, stderr], [0, '']);
    const added = await control.accountByUsername('ada@example');
    assert.ok(added);
    assert.equal(stdout, `Added Ada@Example: subscription ${added.sub}, tier standard.\n`);
    assert.equal(await verifyPassword('pässword ', added.passwordHash), true);
    assert.ok((await control.version()) > before, 'the new version makes a running server reload');
  });

  it('add --json prints the account without its hash', async (t) => {
    const { json, control } = await open(t);
    const result = await json(['add', 'bob', '--tier', 'enterprise'], 'pw');
    const added = await control.accountByUsername('bob');
    const expected = { username: 'bob', tier: 'enterprise', enabled: true, admin: false, created_ts: added?.createdTs };
    assert.deepEqual(result, { sub: added?.sub, ...expected });
  });

  it('add refuses an invalid account before it reads a password', async (t) => {
    const { account } = await open(t);
    await account(['add', 'ada'], 'pw');
    const refusals = [
      [['add', 'ADA'], /^The account "ada" already exists: /],
      [['add', 'bob', '--tier', 'gold'], /^There is no tier "gold"\. There are: developer, /],
      [['add', 'bob'], /^Standard input is empty\. Write the password to it as one line\.\n/],
      [['add', 'ada '], /^The username "ada " begins or ends with white space: /],
      [['add', ''], /^A username has 1 to 254 characters: /],
    ] as const;
    for (const [args, reason] of refusals) {
      const { code, stdout, stderr } = await account([...args]);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, reason);
    }
    assert.match((await account(['add', 'bob'], '\n')).stderr, /1 to 1024 bytes/);
    assert.match((await account(['add', 'bob'], 'x'.repeat(70_000))).stderr, /too long/);
  });

  it('list shows a table, or how to add an account if there is none', async (t) => {
    const { account, json, control } = await open(t);
    assert.match((await account(['list'])).stdout, /no accounts.*urlwarden account add/);
    assert.deepEqual(await json(['list']), []);
    const bobName = 'bob\u001b[2J'; // of an older account: add refuses it
    await addAccount(control, { username: bobName, sub: '20000000' });
    await account(['add', 'ada', '--tier', 'operator'], 'pw');
    await account(['disable', 'ada']);
    const { stdout } = await account(['list']);
    const [heading, ada, bob, ...rest] = stdout.split('\n');
    assert.match(heading ?? '', /^USERNAME +SUB +TIER +ROLE +STATE +CREATED$/);
    assert.match(ada ?? '', /^ada {11}[1-9]\d{7} {2}operator {2}user {2}disabled {2}\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.match(bob ?? '', /^bob\\u\{1b\}\[2J {2}/, 'no control characters');
    assert.deepEqual(rest, ['']);
    assert.deepEqual(
      (await json(['list'])).map((one: { username: string; enabled: boolean }) => [one.username, one.enabled]),
      [
        ['ada', false],
        [bobName, true],
      ],
    );
  });

  it('show prints the limits and the usage of this month and day', async (t) => {
    const { account, json, control } = await open(t);
    const { sub, created_ts } = await json(['add', 'ada', '--tier', 'developer'], 'pw');
    const ts = Math.floor(Date.now() / 1000);
    const [day, month] = [windowIndex('day', ts), windowIndex('month', ts)];
    await control.addUsage([
      { sub, day, month, count: 40 },
      { sub, day: day - 1, month, count: 5_000 },
    ]);
    assert.deepEqual(await json(['show', 'ADA']), {
      sub,
      username: 'ada',
      tier: 'developer',
      enabled: true,
      admin: false,
      created_ts,
      limits: {
        trs: 'base',
        ads: ['URL', 'XBL', 'CSS', 'BCL', 'DROP', 'DOMAIN'],
        qms: 5_000,
        qmh: 5_000,
        rl_qps: 21,
        rl_qpm: 166,
        rl_qph: 664,
      },
      usage: { month: 5_040, day: 40 },
    });
    const { stdout } = await account(['show', 'ada']);
    assert.match(stdout, /^this month {5}5040 of 5000 queries \(above the soft limit\)$/m);
    assert.match(stdout, /^rates {10}21 a second, 166 a minute, 664 an hour$/m);
  });

  it('set, disable, enable, passwd, revoke and remove change the account', async (t) => {
    const { control, account } = await open(t);
    await account(['add', 'ada'], 'pw');
    const state = async () => {
      const found = await control.accountByUsername('ada');
      return found && [found.tier, found.isEnabled, found.generation];
    };
    const steps = [
      [['set', 'ada', '--tier', 'enterprise'], '', 'ada now has the tier enterprise.\n', ['enterprise', true, 1]],
      [['disable', 'ada'], '', 'ada is disabled.\n', ['enterprise', false, 1]],
      [['enable', 'ada'], '', 'ada is enabled.\n', ['enterprise', true, 1]],
      [
        ['passwd', 'ada'],
        'new\n',
        'ada has a new password; its earlier tokens are invalid.\n',
        ['enterprise', true, 2],
      ],
      [['revoke', 'ada'], '', 'ada has no valid tokens any more.\n', ['enterprise', true, 3]],
    ] as const;
    for (const [args, stdin, output, expected] of steps) {
      assert.deepEqual(await account([...args], stdin), { code: 0, stdout: output, stderr: '' });
      assert.deepEqual(await state(), expected);
    }
    assert.equal(await verifyPassword('new', (await control.accountByUsername('ada'))?.passwordHash ?? ''), true);

    const refused = await account(['remove', 'ada']);
    assert.deepEqual(
      [refused.code, refused.stderr],
      [1, 'This needs a confirmation, and standard input is not a terminal. Add --yes to confirm.\n'],
    );
    assert.notEqual(await state(), null);
    assert.equal((await account(['remove', 'ada', '--yes'])).stdout, 'Removed ada.\n');
    assert.equal(await state(), null);
  });

  it('the role of an administrator is given, shown and taken, but not from the last one', async (t) => {
    const { account, json } = await open(t);
    const added = await account(['add', 'ada', '--admin'], 'pw');
    assert.match(added.stdout, /^Added ada: subscription \d{8}, tier standard, administrator\.\n$/);
    await account(['add', 'bob'], 'pw');
    assert.match(
      (await account(['list'])).stdout,
      /^ada +\d+ +standard +admin +enabled .*\nbob +\d+ +standard +user /m,
    );
    assert.match((await account(['show', 'ada'])).stdout, /^administrator {2}yes$/m);
    for (const args of [
      ['set', 'ada', '--admin', 'no', '--tier', 'enterprise'],
      ['disable', 'ada'],
      ['remove', 'ada', '--yes'],
    ]) {
      const { code, stderr } = await account(args);
      assert.deepEqual([code, stderr.includes('This is the last enabled administrator')], [1, true], stderr);
    }
    const { admin, enabled, tier } = await json(['show', 'ada']);
    assert.deepEqual([admin, enabled, tier], [true, true, 'standard']);
    const given = await account(['set', 'bob', '--admin', 'yes', '--tier', 'enterprise']);
    assert.equal(given.stdout, 'bob now has the tier enterprise.\nbob is now an administrator.\n');
    assert.equal((await account(['set', 'ada', '--admin', 'no'])).stdout, 'ada is not an administrator.\n');
    assert.equal((await account(['disable', 'ada'])).code, 0);
  });

  it('remove deletes every key of the account in Redis; other keys expire by themselves', async (t) => {
    const { control, json } = await open(t);
    const { sub } = await json(['add', 'ada'], 'pw');
    const prefix = temporaryPrefix();
    const link = await temporaryLink(t, { prefix });
    const counters = redisCounters(link, control, { whenDown: 'refuse' });
    t.after(() => counters.close());
    await counters.take(sub, [], 1);
    await counters.takeCall(sub, 1);
    await counters.read('10000002');
    await createSharedLoginPenalty(link).take('ada', Date.now());
    await createSharedLoginFailures(link).count({ address: '192.0.2.1', pair: 'digest', isKnown: false }, Date.now());
    const redis = new Redis(redisServerUrl());
    t.after(() => redis.disconnect());
    const names = async () => (await redis.keys(`${prefix}:*`)).map((key) => key.slice(prefix.length + 1)).sort();
    assert.equal((await names()).length, 6);
    for (const key of await redis.keys(`${prefix}:*`)) {
      const life = await redis.ttl(key);
      const longest = key.endsWith(':queries') ? 32 * 86_400 : 600;
      assert.ok(life > 0 && life <= longest, `${key} lives ${life} s`);
    }
    const removed = await json(['remove', 'ada', '--yes', '--redis-url', redisServerUrl(), '--redis-prefix', prefix]);
    assert.deepEqual([removed.sub, removed.redis_keys_deleted], [sub, true]);
    assert.deepEqual(await names(), ['{10000002}:queries', '{192.0.2.1}:failed-address', '{digest}:failed-pair']);
  });

  it('remove also works while Redis is away, and says what is left there and for how long', async (t) => {
    const { control, account } = await open(t);
    await account(['add', 'ada'], 'pw');
    const { code, stdout } = await account([
      'remove',
      'ada',
      '--yes',
      '--redis-url',
      `redis://127.0.0.1:${await freePort()}`,
    ]);
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^Removed ada\.\nRedis did not answer: .*ECONNREFUSED.*\nThe counters of subscription \d{8} are still /,
    );
    assert.match(stdout, /expire 32 days after the last query,\nand counted logins after ten minutes\.\n$/);
    assert.equal(await control.accountByUsername('ada'), null);
  });

  it('every command refuses an unknown account', async (t) => {
    const { account } = await open(t);
    for (const args of [
      ['show'],
      ['set', '--tier', 'standard'],
      ['disable'],
      ['enable'],
      ['passwd'],
      ['revoke'],
      ['remove'],
    ]) {
      const { code, stdout, stderr } = await account([...args, 'eve'], 'pw');
      assert.deepEqual([code, stdout], [1, ''], args[0]);
      assert.match(stderr, /^There is no account "eve": see urlwarden account list/);
    }
  });

  it('an invalid command line ends with exit code 2 and refers to --help', async (t) => {
    const { account } = await open(t);
    const faults = [
      [['add'], /^USERNAME is missing\nSee: urlwarden account add --help\n$/],
      [['add', 'a', 'b'], /^"b" is not expected here\n/],
      [['add', 'a', '--password', 'x'], /^--password is not a flag of this command\n/],
      [['add', 'a', '--tier'], /^--tier needs a value: --tier NAME\n/],
      [['add', 'a', '--tier', '--json'], /^--tier needs a value: --tier NAME\n/],
      [['list', '--json=x'], /^--json takes no value\n/],
      [['list', '--jsno'], /^--jsno is not a flag of this command\. Did you mean "--json"\?\n/],
      [['set', 'a'], /^--tier NAME or --admin yes\|no is missing\n/],
      [['set', 'a', '--admin', 'maybe'], /^--admin must be yes or no, not "maybe"\n/],
      [['ad'], /^urlwarden account has no command "ad"\. Did you mean "add"\?\nSee: urlwarden account --help\n$/],
    ] as const;
    for (const [args, reason] of faults) {
      const { code, stdout, stderr } = await account([...args], 'pw');
      assert.deepEqual([code, stdout], [2, ''], stderr);
      assert.match(stderr, reason);
    }
  });
});
