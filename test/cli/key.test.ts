import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ensureKey, readKeyFile, rotateKey } from '../../src/accounts/signing-keys.ts';
import { temporaryControl } from '../temporary-control.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { urlwarden } from './urlwarden.ts';

test('key list shows which key signs, and no secret', async (t) => {
  const dataDir = temporaryFolder(t);
  const control = await temporaryControl(t, dataDir);
  const list = async (...args: string[]) => (await urlwarden(['key', 'list', ...args, '--data', dataDir])).stdout;
  assert.match(await list(), /^There are no keys\. The server creates one/);
  const first = await ensureKey(control, 1_000);
  const second = await rotateKey(control, 2_000, false);
  assert.equal(
    await list(),
    [
      'KID       CREATED               USE',
      `${second.kid}  1970-01-01T00:33:20Z  signs and verifies`,
      `${first.kid}  1970-01-01T00:16:40Z  verifies`,
      '',
    ].join('\n'),
  );
  assert.deepEqual(JSON.parse(await list('--json')), [
    { kid: second.kid, created_ts: 2_000, signs: true },
    { kid: first.kid, created_ts: 1_000, signs: false },
  ]);
  const file = join(dataDir, 'keys');
  writeFileSync(file, `${'ab'.repeat(32)}\n${'cd'.repeat(32)}\n`, { mode: 0o600 });
  const [signing] = readKeyFile(file);
  const ofFile = await list('--signing-key-file', file);
  assert.match(
    ofFile,
    new RegExp(`^KID .*\\n${signing?.kid} +unknown +signs and verifies\\n\\S+ +unknown +verifies\\n$`),
  );
  assert.ok(!ofFile.includes('abab'));
});

test('key rotate adds a key, and only --now removes the older ones', async (t) => {
  const dataDir = temporaryFolder(t);
  const control = await temporaryControl(t, dataDir);
  const rotate = (...args: string[]) => urlwarden(['key', 'rotate', ...args, '--data', dataDir]);
  const kids = async () => (await control.keys()).map(({ kid }) => kid);
  const { kid: first } = await ensureKey(control, Math.floor(Date.now() / 1000));

  const { stdout } = await rotate();
  const [second] = await kids();
  assert.equal(stdout, `New tokens are signed with the key ${second}. Existing tokens stay valid until they expire.\n`);
  assert.deepEqual(await kids(), [second, first]);

  const result = JSON.parse((await rotate('--now', '--json')).stdout);
  const [third] = await control.keys();
  assert.deepEqual(result, { kid: third?.kid, keys: [{ kid: third?.kid, created_ts: third?.createdTs }] });
  assert.deepEqual(await kids(), [result.kid]);
});

test('key rotate refuses while the keys are in a file, which it cannot change', async (t) => {
  const dataDir = temporaryFolder(t);
  const control = await temporaryControl(t, dataDir);
  const { kid } = await ensureKey(control, 1_000);
  const file = join(dataDir, 'keys');
  writeFileSync(file, `${'ab'.repeat(32)}\n`, { mode: 0o600 });
  const { code, stderr } = await urlwarden(['key', 'rotate', '--now', '--signing-key-file', file, '--data', dataDir]);
  assert.notEqual(code, 0);
  assert.match(stderr, /The signing keys are in a file/);
  assert.deepEqual(
    (await control.keys()).map((key) => key.kid),
    [kid],
  );
});
