import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { urlwarden } from './urlwarden.ts';

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
    for (const command of ['normalize', 'cost']) {
      const { code, stdout } = await urlwarden([command, '--help']);
      assert.equal(code, 0);
      assert.ok(stdout.startsWith(`urlwarden ${command} `));
    }
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
