import assert from 'node:assert/strict';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext, test } from 'node:test';
import { openSettingsFile } from '../../src/cli/settings-file.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { mmdbOf } from '../ingest/mmdb.ts';
import { temporaryControl } from '../temporary-control.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { urlwarden } from './urlwarden.ts';

/** Nothing listens there: a command that used it would fail. */
const NO_DATABASE = 'database-url = "postgres://127.0.0.1:9/x"';

function writeFile(folder: string, name: string, lines: string[], mode = 0o600): string {
  const path = join(folder, name);
  writeFileSync(path, `${lines.join('\n')}\n`, { mode });
  chmodSync(path, mode);
  return path;
}

function writeTable(folder: string): string {
  const path = join(folder, 'asn.mmdb');
  writeFileSync(path, mmdbOf({ '192.0.2.0/24': { autonomous_system_number: 64500 } }));
  return path;
}

type Shown = { setting: string; value: unknown; hidden: boolean; from: string; where: string | null };

describe('the settings file', () => {
  it('is that of the working folder, or the one of --config or URLWARDEN_CONFIG; flags and variables take precedence', async (t) => {
    const cwd = temporaryFolder(t);
    mkdirSync(join(cwd, 'etc'));
    writeFile(cwd, 'urlwarden.toml', ['port = 1', 'metrics-port = 1', 'redis-prefix = "one"', 'data = "one"']);
    const lines = ['{ "port": 2, "metrics-port": 2,', '"data": "two", "asn-db": "npm", "tls-key": "../key.pem",'];
    const other = writeFile(cwd, 'etc/two.json', [...lines, '"redis-url": "redis://:hunter2@127.0.0.1"}']);
    const show = async (args: string[], env: Record<string, string> = {}) => {
      const { code, stdout, stderr } = await urlwarden(['config', 'show', '--json', ...args], '', { cwd, env });
      assert.deepEqual([code, stderr], [0, '']);
      assert.doesNotMatch(stdout, /hunter2/);
      const all = JSON.parse(stdout) as Shown[];
      assert.equal(all.length, Object.keys(SETTINGS).length);
      return (name: string) => all.find(({ setting }) => setting === name);
    };
    const port = (value: number, from: string, where: string) => ({
      setting: 'port',
      value,
      hidden: false,
      from,
      where,
    });
    const [own, given, named] = await Promise.all([
      show([], { URLWARDEN_METRICS_PORT: '3' }),
      show(['--config', 'etc/two.json', '--port', '4', '--tls-cert', 'c'], { URLWARDEN_METRICS_PORT: '3' }),
      show(['--tls-cert', 'c'], { URLWARDEN_CONFIG: other }),
    ]);
    assert.deepEqual(own('port'), port(1, 'file', 'urlwarden.toml:1'));
    assert.deepEqual([own('metrics-port')?.value, own('metrics-port')?.where], [3, 'URLWARDEN_METRICS_PORT']);
    assert.deepEqual([own('redis-prefix')?.value, own('host')?.from], ['one', 'default']);
    assert.equal(own('data')?.value, join(cwd, 'one'));
    assert.deepEqual(given('port'), port(4, 'flag', '--port'));
    assert.deepEqual([given('metrics-port')?.value, given('redis-prefix')?.value], [3, 'urlwarden']);
    assert.deepEqual([given('data')?.value, given('asn-db')?.value], [join(cwd, 'etc/two'), 'npm']);
    assert.deepEqual([given('tls-key')?.value, given('tls-cert')?.value], [join(cwd, 'key.pem'), 'c']);
    assert.deepEqual(given('redis-url'), {
      setting: 'redis-url',
      value: null,
      hidden: true,
      from: 'file',
      where: 'etc/two.json:3',
    });
    assert.deepEqual(named('port'), port(2, 'file', `${other}:1`));
  });

  it('all mistakes are reported together, with their lines and a suggestion, by serve and by every command', async (t) => {
    const cwd = temporaryFolder(t);
    writeFile(cwd, 'urlwarden.toml', [
      'prot = 8080',
      'port = "8080"',
      'metrics-port = "off"',
      'metrics-port = 1',
      'demo = "yes"',
      'data = 5',
      'trust-proxy = "10.0.0.0/8"',
      'feeds-allow-private = ["10.0.0.0/8,192.168.0.0/16"]',
      '[limits]',
      'redis-url = "redis://:hunter2@127.0.0.1/x"',
      'listed-exact = "true"',
      'query-budget-ms = 0',
    ]);
    const expected = [
      '1: there is no setting "prot". Did you mean "port"?',
      '2: port must be a number without quotes',
      '4: metrics-port is already set in line 3',
      '5: demo must be true or false, not "yes"',
      '6: data must be a text in quotes',
      '7: trust-proxy must be an array of texts: ["…", "…"]',
      '8: feeds-allow-private must be an array with one text for each value',
      '9: tables such as [name] are not used here: remove this line',
      '10: redis-url must be redis://HOST:PORT, redis+sentinel://HOST:PORT,…/NAME or redis+cluster://HOST:PORT,… (rediss for TLS)',
      '11: listed-exact must be true or false without quotes',
      '12: query-budget-ms must be a whole number of milliseconds from 1 to 3600000, not 0',
    ].map((line) => `urlwarden.toml:${line}\n`);
    for (const args of [['serve'], ['account', 'list'], ['networks', 'lookup', '192.0.2.1']]) {
      const { code, stdout, stderr } = await urlwarden(args, '', { cwd });
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /See: urlwarden \w+(?: \w+)? --help\n$/);
      assert.equal(stderr.replace(/See: .*\n$/, ''), expected.join(''));
    }
  });

  it('commands find the data, the networks and the allowed feeds in it; --data takes precedence over its database', async (t) => {
    const cwd = temporaryFolder(t);
    writeFile(cwd, 'urlwarden.toml', ['data = "store"', 'feeds-allow-private = ["127.0.0.1"]', 'asn-db = "asn.mmdb"']);
    writeTable(cwd);
    const run = (args: string[], stdin = '') => urlwarden(args, stdin, { cwd });
    assert.equal((await run(['account', 'add', 'ada'], 'a password of some length\n')).code, 0);
    assert.ok(existsSync(join(cwd, 'store/control.db')));
    const elsewhere = writeFile(cwd, 'other.toml', [NO_DATABASE]);
    const [added, list, wrong, networks] = await Promise.all([
      run(['feed', 'add', 'own', '--format', 'url-list', '--url', 'http://127.0.0.1:9/x', '--private']),
      run(['account', 'list', '--data', 'store', '--config', elsewhere]),
      run(['account', 'list', '--config', elsewhere]),
      run(['networks', 'lookup', '192.0.2.1']),
    ]);
    assert.equal(
      added.stdout,
      `Added own: url-list from http://127.0.0.1:9/x every 1 h.\nA running server fetches it within seconds. Without a server: urlwarden feed run own\n`,
    );
    assert.match(list.stdout, /^ada /m);
    assert.equal(wrong.code, 1);
    assert.match(networks.stdout, /^192\.0\.2\.1 +AS64500$/m);
    const { code, stderr } = await run(['feed', 'run', 'own']);
    assert.equal(code, 1);
    assert.doesNotMatch(stderr, /blocked/); // allowed by the file, but nothing listens there
  });
});

function faultsOf(path: string | undefined, uid?: number) {
  return openSettingsFile(path, SETTINGS, uid).faults.join('\n');
}

test('a settings file that cannot be used is refused in one sentence', (t) => {
  const folder = temporaryFolder(t);
  const write = (name: string, text: string | Buffer) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  for (const [path, message] of [
    [join(folder, 'none.toml'), /^There is no settings file \S+none\.toml: check the path$/],
    [join(folder, 'urlwarden.conf'), /^--config must be a file whose name ends in \.toml or \.json, not ".*\.conf"/],
    ['', /^--config must be/],
    [write('latin.toml', Buffer.from([0x23, 0xe4])), /latin\.toml is not valid UTF-8/],
    [write('large.toml', '#'.repeat(2 ** 20 + 1)), /large\.toml is larger than 1 MiB/],
    [write('many.toml', 'x = 1\n'.repeat(100)), /^(?:.*\n){20}.* has more mistakes: correct these first$/],
  ] as const) {
    assert.match(faultsOf(path), message);
  }
  assert.equal(faultsOf(write('bom.toml', '\ufeffport = 1\n')), '');
});

for (const { line, mode, fault } of [
  { line: 'database-url = "postgres://u:secret@h/x"', mode: 0o640, fault: null },
  { line: 'database-url = "postgres://u:secret@h/x"', mode: 0o644, fault: /contains a password.*: chmod 600 / },
  { line: 'database-read-url = ["postgres://h/x", "postgres://u@h/x"]', mode: 0o644, fault: /contains a password/ },
  { line: 'redis-url = "redis+sentinel://h/n?sentinel_password=x"', mode: 0o604, fault: /contains a password/ },
  { line: 'redis-url = "redis://127.0.0.1"', mode: 0o644, fault: null },
  { line: 'port = 1', mode: 0o644, fault: null },
  { line: 'port = 1', mode: 0o646, fault: /^Every user of this machine can change .*: chmod 600 / },
]) {
  test(`a settings file of mode ${mode.toString(8)} with ${line} is ${fault === null ? 'used' : 'refused'}`, (t) => {
    const faults = faultsOf(writeFile(temporaryFolder(t), 'urlwarden.toml', [line], mode));
    if (fault === null) assert.equal(faults, '');
    else assert.match(faults, fault);
    assert.doesNotMatch(faults, /secret/);
  });
}

test('in the working folder, two settings files, or one of another user, are refused', (t: TestContext) => {
  const before = process.cwd();
  const folder = temporaryFolder(t);
  process.chdir(folder);
  t.after(() => process.chdir(before));
  assert.equal(faultsOf(undefined), '');
  const path = writeFile(folder, 'urlwarden.toml', ['port = 1']);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(path, 65_534, 65_534);
  const uid = isRoot ? 0 : (process.getuid?.() ?? 0) + 1;
  assert.match(faultsOf(undefined, uid), /^\.\/urlwarden\.toml belongs to another user: .* --config urlwarden\.toml$/);
  assert.equal(faultsOf('urlwarden.toml', uid), '');
  writeFile(folder, 'urlwarden.json', ['{}']);
  assert.equal(
    faultsOf(undefined),
    'There are two settings files, urlwarden.toml and urlwarden.json: remove one of them',
  );
});

test('docs/operating.md has an example file with every setting; commented lines show the defaults', (t) => {
  const docs = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const example = /```toml\n([^`]+)```/.exec(docs)?.[1] ?? '';
  const read = (text: string) => openSettingsFile(writeFile(temporaryFolder(t), 'urlwarden.toml', [text]), SETTINGS);
  assert.deepEqual(read(example).faults, []);
  const { values, faults } = read(example.replaceAll(/^# ([a-z-]+ = )/gm, '$1'));
  assert.deepEqual(faults, []);
  const flags = Object.values(SETTINGS).map(({ flag }) => flag as string);
  assert.deepEqual([...values.keys()].sort(), flags.sort());
  for (const { flag, fallback } of Object.values(SETTINGS)) {
    const isCommented = new RegExp(`^# ${flag} = `, 'm').test(example);
    if (isCommented && fallback !== null && `${fallback}` !== '') assert.equal(values.get(flag)?.value, fallback, flag);
  }
});

test('every setting that is a path is relative to the folder of the file', () => {
  const paths = Object.values(SETTINGS).filter(({ accepts }) => /\bpath\b/.test(accepts));
  assert.ok(paths.length >= 5);
  for (const setting of paths) assert.ok('resolveIn' in setting, setting.flag);
});

test('commands that read do not create a folder or a database', async (t) => {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, 'mistyped');
  const commands = [
    'account list',
    'account show ada',
    'account set ada --tier standard',
    'account disable ada',
    'account passwd ada',
    'account remove ada --yes',
    'tier list',
    'tier remove gold',
    'key rotate',
    'feed list',
    'feed show x',
    'feed pause x',
    'feed run x',
    'feed remove x --yes',
    'import list',
    'import rejects',
    'export',
    `networks refill --asn-db ${writeTable(folder)}`,
    'listing show 192.0.2.1',
    'listing remove 192.0.2.1',
    'domain show bad.example',
    'domain rebuild',
    'allow list',
    'allow remove 192.0.2.0/24',
    'integrity',
    `backup ${join(folder, 'backup')}`,
  ];
  await Promise.all(
    commands.map(async (line) => {
      const { code, stderr } = await urlwarden([...line.split(' '), '--data', dataDir], 'a password\n');
      const [reason] = stderr.split(', or import a file first: urlwarden import FORMAT FILE');
      assert.deepEqual(
        [code, reason?.trimEnd()],
        [1, `There is no data in ${dataDir}: set the data folder with --data`],
        line,
      );
    }),
  );
  assert.ok(!existsSync(dataDir));
});

describe('feed add', () => {
  const add = (dataDir: string, url: string, ...flags: string[]) =>
    urlwarden(['feed', 'add', 'own', '--format', 'url-list', '--url', url, '--data', dataDir, ...flags], 'key\n');

  it('a private address without --private is refused at once', async (t) => {
    const dataDir = temporaryFolder(t);
    const urls = ['http://10.1.2.3/x', 'http://[fd00::1]/x', 'http://localhost:8000/x', 'http://127.1/x'];
    const outcomes = await Promise.all(urls.map((url) => add(dataDir, url)));
    for (const { code, stdout, stderr } of outcomes) {
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, /is a blocked address \((?:private|loopback)\).* --private.*feeds-allow-private = \["/);
    }
    assert.deepEqual(await (await temporaryControl(t, dataDir)).feeds(), []);
  });

  it('--private without the network in feeds-allow-private adds the feed and says what is missing', async (t) => {
    const dataDir = temporaryFolder(t);
    const { code, stdout } = await add(dataDir, 'http://10.1.2.3/x', '--private');
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^Added own: .*\n.*\nNote: 10\.1\.2\.3 is not in feeds-allow-private .*--feeds-allow-private 10\.1\.2\.3\.\n$/,
    );
  });

  it('a name that cannot be resolved is only a note', async (t) => {
    const { code, stdout } = await add(temporaryFolder(t), 'http://nowhere.invalid/x', '--json');
    const { name, note } = JSON.parse(stdout);
    assert.deepEqual([code, name], [0, 'own']);
    assert.match(note, /^nowhere\.invalid cannot be resolved from here/);
  });
});
