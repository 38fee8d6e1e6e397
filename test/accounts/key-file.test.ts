import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readKeyFile } from '../../src/accounts/signing-keys.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const [first, second] = [randomBytes(32), randomBytes(40)];

function fileOf(t: TestContext, text: string, mode = 0o600): string {
  const file = join(temporaryFolder(t), 'keys');
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

test('a key file has one secret per line, in hexadecimal or base64url, and keeps their order', (t) => {
  const text = `${first.toString('hex')}\r\n\n  ${second.toString('base64url')}  \n${first.toString('hex').toUpperCase()}\n`;
  const keys = readKeyFile(fileOf(t, text, 0o400));
  assert.deepEqual(
    keys.map(({ secret }) => Buffer.from(secret).toString('hex')),
    [first, second, first].map((secret) => secret.toString('hex')),
  );
  const [a, b, c] = keys.map(({ kid }) => kid);
  assert.match(`${a}`, /^[\w-]{8}$/);
  assert.ok(a !== b && a === c, 'the kid is derived from the secret');
});

for (const { why, text, message } of [
  { why: 'empty lines', text: '\n\n', message: /holds no signing key: .*openssl rand -hex 32/ },
  { why: '31 bytes', text: randomBytes(31).toString('hex'), message: /^There is no signing key in line 1 of / },
  { why: '31 bytes in base64url', text: `${first.toString('hex')}\n${'x'.repeat(42)}`, message: /in line 2 of / },
  { why: 'base64 instead of base64url', text: `${'x'.repeat(50)}+/==`, message: /in line 1 of / },
  { why: 'words', text: 'correct horse battery staple and so on and so on', message: /in line 1 of / },
]) {
  test(`a file is refused without showing its content: ${why}`, (t) => {
    const file = fileOf(t, text);
    assert.throws(
      () => readKeyFile(file),
      (error: Error & { code: string }) => {
        assert.match(error.message, message);
        for (let i = 0; i + 8 <= text.length; i++) assert.ok(!error.message.includes(text.slice(i, i + 8)));
        return error.code === 'unavailable';
      },
    );
  });
}

for (const mode of [0o640, 0o604, 0o660, 0o620]) {
  test(`a file that is open to other users is refused: mode ${mode.toString(8)}`, (t) => {
    const file = fileOf(t, first.toString('hex'), mode);
    assert.throws(() => readKeyFile(file), { code: 'unavailable', message: /open to other users: run chmod 600/ });
  });
}

test('a folder is refused, without the advice to chmod it', () => {
  assert.throws(() => readKeyFile('/'), { message: '/ is a folder, not a file with signing keys' });
});

test('a missing file is refused', () => {
  assert.throws(() => readKeyFile('/nowhere/keys'), { message: /^The signing keys cannot be read: .*\/nowhere\/keys/ });
});
