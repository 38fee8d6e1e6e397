import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { FORMATS } from '../../src/ingest/formats/formats.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { urlwarden } from './urlwarden.ts';

for (const shell of ['bash', 'zsh', 'fish']) needs(shell);

const run = promisify(execFile);

/** The words that end the line when Tab is pressed, and what the shell offers for them. */
const VECTORS: [line: string, offered: string[]][] = [
  ['urlwarden expo', ['export']],
  ['urlwarden feed re', ['remove', 'resume']],
  ['urlwarden feed set own --no-', ['--no-complete', '--no-headers', '--no-private']],
  ['urlwarden export --format s', ['squid', 'suricata', 'suricata-dataset']],
  ['urlwarden export --status online --time ', ['iso', 'unix']],
  ['urlwarden import li', ['list']],
  ['urlwarden import stix', FORMATS.map(({ name }) => name).filter((name) => name.startsWith('stix'))],
  ['urlwarden import rejects --js', ['--json']],
  ['urlwarden serve --metrics-', ['--metrics-host', '--metrics-port']],
  ['urlwarden serve --log-level ', ['debug', 'error', 'info', 'warn']],
  ['urlwarden serve --limits-when-redis-is-down ', ['local', 'refuse']],
  ['urlwarden listing add 203.0.113.7 --dataset ', ['BCL', 'CSS', 'DROP', 'XBL']],
  ['urlwarden listing remove 203.0.113.7 --dataset D', ['DROP']],
  ['urlwarden domain set files.example --abused ', ['no', 'unset', 'yes']],
  ['urlwarden allow import ', ['ip-list', 'misp-warninglist']],
  ['urlwarden completion ', ['bash', 'fish', 'zsh']],
];

const ZSH_LINES = [
  ['urlwarden expo', 'export'],
  ['urlwarden feed resu', 'feed resume'],
  ['urlwarden export --time i', 'export --time iso'],
  ['urlwarden feed set own --no-comp', 'feed set own --no-complete'],
  ['urlwarden import rejects --js', 'import rejects --json'],
] as const;

describe('urlwarden completion', () => {
  const scripts: Record<string, string> = {};
  before(async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { code, stdout, stderr } = await urlwarden(['completion', shell]);
      assert.deepEqual([code, stderr], [0, '']);
      scripts[shell] = stdout;
    }
  });

  it('bash offers commands, flags and values', async (t) => {
    const file = written(t, scripts.bash);
    const lines = VECTORS.map(([line]) => {
      const words = line.split(' ').map((word) => `'${word}'`);
      return `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _urlwarden; echo "\${COMPREPLY[@]}"`;
    });
    const script = `source '${file}'; complete -p urlwarden; ${lines.join('\n')}`;
    const [registered, ...offered] = (await run('bash', ['--norc', '-c', script])).stdout.split('\n');
    assert.equal(registered, 'complete -o default -F _urlwarden urlwarden');
    for (const [i, [line, expected]] of VECTORS.entries())
      assert.deepEqual(sorted(offered[i]), expected.toSorted(), line);
  });

  it('fish offers commands, flags and values', async (t) => {
    const file = written(t, scripts.fish);
    const lines = VECTORS.map(([line]) => `echo (complete -C '${line}' | string replace -r '\\t.*' '')`);
    const { stdout } = await run('fish', ['--no-config', '-c', `source '${file}'; ${lines.join('; ')}`]);
    const offered = stdout.split('\n');
    for (const [i, [line, expected]] of VECTORS.entries())
      assert.deepEqual(sorted(offered[i]), expected.toSorted(), line);
  });

  it('zsh completes a line on a terminal', async (t) => {
    const file = written(t, scripts.zsh);
    // `zpty` types on a terminal of its own. Each line has one possible end, which Tab writes; then the line is run.
    const script = `
      zmodload zsh/zpty
      zpty shell zsh -f -i
      zpty -w shell "unsetopt zle_bracketed_paste; PS1=; autoload -U compinit; compinit -u -D; source '${file}'
        urlwarden() { print -r -- \\"<\\$*>\\" }; echo re''ady"
      zpty -r shell output '*ready*'
      for line in ${ZSH_LINES.map(([line]) => `'${line}'`).join(' ')}; do
        zpty -w -n shell "$line"$'\\t\\n'
        zpty -r shell output '*<*>*' && print -r -- "$output"
      done
      zpty -d shell`;
    const { stdout } = await run('zsh', ['-f', '-c', script], { timeout: 20_000 });
    for (const [, words] of ZSH_LINES) assert.ok(stdout.includes(`<${words}>`), `${words} is not in\n${stdout}`);
  });

  it('the help of a command without flags has no part about them', async () => {
    const { stdout } = await urlwarden(['completion', '--help']);
    assert.match(stdout, /^Usage: urlwarden completion SHELL\n/);
    assert.doesNotMatch(stdout, /flags:/i);
  });

  it('another shell is refused', async () => {
    const { code, stderr } = await urlwarden(['completion', 'tcsh']);
    assert.equal(code, 2);
    assert.match(stderr, /^SHELL must be one of bash, zsh, fish, not "tcsh"\n/);
  });
});

function written(t: Parameters<typeof temporaryFolder>[0], script = ''): string {
  const file = join(temporaryFolder(t), 'script');
  writeFileSync(file, script);
  return file;
}

function sorted(line = ''): string[] {
  return line
    .split(' ')
    .filter((word) => word !== '')
    .sort();
}
