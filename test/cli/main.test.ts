import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Outcome, PROGRAM, urlwarden } from './urlwarden.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

const HELP_COLUMNS = 100;

describe('urlwarden', () => {
  it('--version prints the version of the package', async () => {
    assert.deepEqual(await urlwarden(['--version']), { code: 0, stdout: `urlwarden ${version}\n`, stderr: '' });
  });

  it('help and version are also words', async () => {
    for (const [words, flags] of [
      [['version'], ['--version']],
      [['help'], ['--help']],
      [
        ['help', 'feed'],
        ['feed', '--help'],
      ],
      [
        ['help', 'feed', 'add'],
        ['feed', 'add', '--help'],
      ],
    ] as const) {
      const { code, stdout } = await urlwarden([...flags]);
      assert.deepEqual(await urlwarden([...words]), { code, stdout, stderr: '' });
    }
  });

  it('--help and -h list the commands and flags', async () => {
    for (const flag of ['--help', '-h']) {
      const { code, stdout } = await urlwarden([flag]);
      assert.equal(code, 0);
      assert.match(stdout, /^Usage: urlwarden COMMAND \[FLAGS\]\n/);
      for (const name of ['normalize +', 'cost +', '--help {6}', '--version {3}']) {
        assert.match(stdout, new RegExp(`^ {2}${name}\\S`, 'm'));
      }
    }
  });

  it('without a command it prints the help to standard error and ends with 2', async () => {
    const { code, stdout, stderr } = await urlwarden([]);
    assert.deepEqual([code, stdout], [2, '']);
    assert.equal(stderr, (await urlwarden(['--help'])).stdout);
  });

  it(`every command has a help text of at most ${HELP_COLUMNS} columns, which names commands that exist`, async () => {
    const texts = await helpTexts([]);
    const commands = texts.map(({ path }) => path.join(' '));
    for (const { path, code, stdout } of texts) {
      assert.equal(code, 0);
      assert.ok(stdout.startsWith(`${['Usage: urlwarden', ...path].join(' ')} `), stdout);
      for (const line of stdout.split('\n')) assert.ok(line.length <= HELP_COLUMNS, line);
      assert.doesNotMatch(stdout, /\n\n\n/);
      for (const [, group = '', name = ''] of stdout.matchAll(/urlwarden\s+([a-z]+)\s+([a-z]+)/g)) {
        const isGroup = commands.some((command) => command.startsWith(`${group} `));
        if (isGroup) assert.ok(commands.includes(`${group} ${name}`), `urlwarden ${group} ${name}`);
      }
    }
    assert.ok(texts.length > 30, 'the commands were not found');
  });

  for (const { args, message } of [
    { args: ['normalise'], message: 'urlwarden has no command "normalise". Did you mean "normalize"?' },
    { args: ['whois'], message: 'urlwarden has no command "whois".' },
    { args: ['--verison'], message: 'urlwarden has no flag "--verison". Did you mean "--version"?' },
    { args: ['feed', 'start'], message: 'urlwarden feed has no command "start".' },
    { args: ['feed', 'remvoe'], message: 'urlwarden feed has no command "remvoe". Did you mean "remove"?' },
    { args: ['feed', '--version'], message: 'urlwarden feed has no flag "--version".' },
  ]) {
    it(`${args.join(' ')} is refused with a suggestion, or with the help text`, async () => {
      const { code, stdout, stderr } = await urlwarden(args);
      const path = args.slice(0, -1);
      const help = ['urlwarden', ...path, '--help'].join(' ');
      const rest = message.endsWith('?') ? `See: ${help}\n` : `\n${(await urlwarden([...path, '--help'])).stdout}`;
      assert.deepEqual([code, stdout, stderr], [2, '', `${message}\n${rest}`]);
    });
  }

  it('an unknown flag is refused and refers to --help', async () => {
    const { code, stderr } = await urlwarden(['cost', '--fast']);
    assert.deepEqual([code, stderr], [2, '--fast is not a flag of this command\nSee: urlwarden cost --help\n']);
  });

  it('goes on if standard error cannot be written, such as a log on a full disk', (t: TestContext) => {
    const args = ['tier', 'set', 'small', '--qms', '1', '--qmh', '1', '--data', join(temporaryFolder(t), 'new')];
    const full = openSync('/dev/full', 'w');
    const { status, stdout } = spawnSync(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', full] });
    closeSync(full);
    assert.equal(status, 0);
    assert.match(`${stdout}`, /^The tier small has /);
  });

  it('arguments after -- are operands', async () => {
    const { code, stdout } = await urlwarden(['normalize', '--', '--help']);
    assert.equal(code, 1);
    assert.match(stdout, /^--help\n {2}refused: /);
  });
});

/** The help texts of the program, of the commands that it lists, and of the commands that those list. */
async function helpTexts(path: string[]): Promise<(Outcome & { path: string[] })[]> {
  const own = { path, ...(await urlwarden([...path, '--help'])) };
  const names = / COMMAND /.test(own.stdout) ? [...own.stdout.matchAll(/^ {2}(\w+) {3}/gm)] : [];
  const below = await Promise.all(names.map(([, name = '']) => helpTexts([...path, name])));
  return [own, ...below.flat()];
}
