import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Outcome, urlwarden } from './urlwarden.ts';

describe('urlwarden', () => {
  it('--help lists the commands', async () => {
    const { code, stdout } = await urlwarden(['--help']);
    assert.equal(code, 0);
    assert.match(stdout, /^ {2}normalize {3}/m);
    assert.match(stdout, /^ {2}cost {8}/m);
  });

  it('without a command says what there is, as a mistake', async () => {
    const { code, stdout, stderr } = await urlwarden([]);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /normalize/);
  });

  it('COMMAND --help tells how to use it', async () => {
    const texts = await helpTexts([]);
    for (const { path, code, stdout } of texts) {
      assert.equal(code, 0);
      assert.ok(stdout.startsWith(`${['urlwarden', ...path].join(' ')} `), stdout);
    }
    assert.ok(texts.length > 15, 'the commands were not found');
  });

  it('names an unknown command and what to do', async () => {
    const { code, stdout, stderr } = await urlwarden(['normalise']);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /no command "normalise"/);
    assert.match(stderr, /urlwarden COMMAND --help/);
  });

  it('names an unknown option and where to look', async () => {
    const { code, stderr } = await urlwarden(['cost', '--jsno']);
    assert.equal(code, 2);
    assert.match(stderr, /--jsno/);
    assert.match(stderr, /urlwarden cost --help/);
  });
});

/** Of the program, of its commands as that lists them, and so on. */
async function helpTexts(path: string[]): Promise<(Outcome & { path: string[] })[]> {
  const own = { path, ...(await urlwarden([...path, '--help'])) };
  const names = / COMMAND /.test(own.stdout) ? [...own.stdout.matchAll(/^ {2}(\w+) {3}/gm)] : [];
  const below = await Promise.all(names.map(([, name = '']) => helpTexts([...path, name])));
  return [own, ...below.flat()];
}
