import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { urlwarden } from './urlwarden.ts';

describe('urlwarden cost', () => {
  it('shows the canonical form and the number of queries', async () => {
    const { code, stdout } = await urlwarden(['cost', '192.0.2.77/24', '2001:DB8::1']);
    assert.equal(code, 0);
    assert.equal(
      stdout,
      '192.0.2.77/24\n→ 192.0.2.0/24 counts as 9 queries\n2001:DB8::1\n→ 2001:db8::1 counts as 1 query\n',
    );
  });

  it('defanged addresses of people are accepted, but not in JSON of programs', async () => {
    const { code, stdout } = await urlwarden(['cost', '192[.]0[.]2[.]77/24']);
    assert.deepEqual([code, stdout], [0, '192[.]0[.]2[.]77/24\n→ 192.0.2.0/24 counts as 9 queries\n']);
    assert.match((await urlwarden(['cost', '--json', '2001[:]db8[:][:]1'])).stdout, /"canonical":"2001:db8::1"/);
    assert.match((await urlwarden(['cost', '--json'], '"192[.]0[.]2[.]1"\n')).stdout, /^\{"error":"ip must be /);
  });

  it('a refusal explains the accepted forms', async () => {
    const { code, stdout } = await urlwarden(['cost'], '127.1\n');
    assert.equal(code, 1);
    assert.match(stdout, /^127\.1\n {2}refused: ip must be one IPv4 address of four decimal octets/);
  });

  it('an empty operand is refused, an empty line is skipped, and so is a byte-order mark', async () => {
    const { code, stdout } = await urlwarden(['cost', '']);
    assert.equal(code, 1);
    assert.match(stdout, /^""\n {2}refused: ip must be /);
    const lines = await urlwarden(['cost'], '\ufeff192.0.2.1\n\n');
    assert.deepEqual([lines.code, lines.stdout], [0, '192.0.2.1\n→ 192.0.2.1 counts as 1 query\n']);
  });

  it('--json prints one object per line', async () => {
    const { code, stdout } = await urlwarden(['cost', '--json'], '"::ffff:0:0/96"\n"x"\n7\n\n"::/0"');
    assert.equal(code, 0);
    const responses = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(responses[0], { canonical: '0.0.0.0/0', cost: 33 });
    assert.match(responses[1].error, /^ip must be /);
    assert.deepEqual(responses.slice(2), [
      { error: 'invalid_type' },
      { error: 'invalid_type' },
      { canonical: '::/0', cost: 65 },
    ]);
  });
});
