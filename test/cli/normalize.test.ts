import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { startUrlwarden, urlwarden } from './urlwarden.ts';

describe('urlwarden normalize', () => {
  it('shows the normalized form of a URL and the rules that changed it', async () => {
    const { code, stdout } = await urlwarden(['normalize', 'HTTP://user:pw@Example.com:80/a b']);
    assert.equal(code, 0);
    assert.equal(
      stdout,
      `HTTP://user:pw@Example.com:80/a b
→ http://example.com/a%20b
  scheme written in lower case (N4)
  credentials removed (N6)
  host written in lower case (N7)
  default port of http removed (N11)
  characters not allowed in a path escaped (N12)
`,
    );
  });

  it('shows that a URL is unchanged or refused', async () => {
    const { code, stdout } = await urlwarden(['normalize', 'http://example.com/', 'mailto:example.com']);
    assert.equal(code, 1);
    assert.match(stdout, /^http:\/\/example\.com\/\n {2}unchanged\nmailto:example\.com\n {2}refused: The scheme/);
    assert.match(stdout, /\(unsupported_scheme\)\n$/);
  });

  it('restores defanged URLs of people, but not in JSON of programs', async () => {
    const restored = 'hxxp://a[.]test/b[.]c\n→ http://a.test/b.c\n  defanged form restored\n';
    assert.equal((await urlwarden(['normalize', 'hxxp://a[.]test/b[.]c'])).stdout, restored);
    assert.equal((await urlwarden(['normalize'], 'hxxp://a[.]test/b[.]c\n')).stdout, restored);
    assert.equal((await urlwarden(['normalize', '--json', 'hxxp://a[.]test'])).stdout, '{"url":"http://a.test/"}\n');
    const { stdout } = await urlwarden(['normalize', '--json'], '"hxxp://a.test/"\n"http://a[.]test/"\n');
    assert.equal(stdout, '{"error":"unsupported_scheme"}\n{"error":"invalid_host"}\n');
  });

  it('reads lines with LF or CRLF, skips empty ones, and needs no line break at the end', async () => {
    const { code, stdout } = await urlwarden(['normalize'], 'http://a.test/\r\n\r\n\nhttp://b.test/');
    assert.deepEqual([code, stdout], [0, 'http://a.test/\n  unchanged\nhttp://b.test/\n  unchanged\n']);
  });

  it('refuses an empty operand', async () => {
    const empty = await urlwarden(['normalize', '', 'http://a.test/']);
    assert.equal(empty.code, 1);
    assert.match(
      empty.stdout,
      /^""\n {2}refused: The URL is empty\. .*\(empty\)\nhttp:\/\/a\.test\/\n {2}unchanged\n$/,
    );
  });

  it('skips a byte-order mark, also in JSON', async () => {
    const mark = '\ufeff';
    assert.match(
      (await urlwarden(['normalize'], `${mark}http://a.test/\n`)).stdout,
      /^http:\/\/a\.test\/\n {2}unchanged\n$/,
    );
    const { stdout } = await urlwarden(['normalize', '--json'], `${mark}"http://a.test/"\n${mark}"http://b.test/"\n`);
    assert.equal(stdout, '{"url":"http://a.test/"}\n{"error":"invalid_type"}\n');
  });

  it('escapes control characters', async () => {
    const { stdout } = await urlwarden(['normalize', 'http://a.test/\u001b[2J\u202e']);
    assert.match(stdout, /^http:\/\/a\.test\/\\u\{1b\}\[2J\\u\{202e\}\n/);
  });

  it('--json prints one object per line', async () => {
    const lines = [
      ['"HTTP://a.test"', '{"url":"http://a.test/"}'],
      ['"a.test"', '{"error":"missing_scheme"}'],
      [' "http:\\/\\/\\u0061.test\\n" \r', '{"url":"http://a.test/"}'],
      ['"http://a.test/\\ud800"', '{"error":"invalid_unicode"}'],
      ['42', '{"error":"invalid_type"}'],
      ['null', '{"error":"invalid_type"}'],
      ['["http://a.test/"]', '{"error":"invalid_type"}'],
      ['http://a.test/', '{"error":"invalid_type"}'],
      ['', '{"error":"invalid_type"}'],
      ['"http://a.test/', '{"error":"invalid_type"}'],
      [`"${'a'.repeat(8193)}"`, '{"error":"too_long"}'],
      [`"${'a'.repeat(70_000)}"`, '{"error":"too_long"}'],
      ['"http://日.test/"', '{"url":"http://xn--wgv.test/"}'],
    ];
    const { code, stdout } = await urlwarden(['normalize', '--json'], `${lines.map(([line]) => line).join('\n')}\n`);
    assert.equal(code, 0);
    assert.deepEqual(stdout.split('\n'), [...lines.map(([, answer]) => answer), '']);
  });

  it('--json reads operands as plain text', async () => {
    const { code, stdout } = await urlwarden(['normalize', '--json', 'HTTP://a.test', 'x']);
    assert.deepEqual([code, stdout], [0, '{"url":"http://a.test/"}\n{"error":"missing_scheme"}\n']);
  });

  it('refuses a line that is not UTF-8', async () => {
    const bytes = Buffer.from('"http://a.test/\xe9"\n"http://a.test/"\n', 'latin1');
    const { stdout } = await urlwarden(['normalize', '--json'], bytes);
    assert.equal(stdout, '{"error":"invalid_unicode"}\n{"url":"http://a.test/"}\n');
  });

  it('answers while it reads, and joins a character that is split between two chunks', async () => {
    const child = startUrlwarden(['normalize', '--json']);
    const line = Buffer.from('"http://a.test/é"\n');
    child.stdin.write(line.subarray(0, line.indexOf(0xc3) + 1));
    child.stdin.write(line.subarray(line.indexOf(0xc3) + 1));
    const [first] = await once(child.stdout, 'data');
    assert.equal(String(first), '{"url":"http://a.test/%C3%A9"}\n');
    child.stdin.end(line.toString().repeat(50_000));
    let bytes = 0;
    for await (const chunk of child.stdout) bytes += chunk.length;
    assert.equal(bytes, 50_000 * first.length);
  });

  it('a closed pipe ends it without an error', async () => {
    const child = startUrlwarden(['normalize', '--json']);
    child.stdin.on('error', () => {});
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    child.stdin.write('"http://a.test/"\n'.repeat(100_000));
    await once(child.stdout, 'data');
    child.stdout.destroy();
    child.stdin.end('"http://a.test/"\n'.repeat(100_000));
    const [code] = await once(child, 'close');
    assert.deepEqual([code, errors], [0, '']);
  });
});
