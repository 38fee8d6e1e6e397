import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { jwtVerify } from 'jose';
import { temporaryFolder } from '../temporary-folder.ts';
import { DEMO, startReusedServer, tokenOf } from './server.ts';
import { urlwarden } from './urlwarden.ts';

test('serve --signing-key-file signs with the first secret of the file and accepts tokens of all of them', async (t) => {
  const folder = temporaryFolder(t);
  const [older, newer] = [randomBytes(32), randomBytes(32)];
  const file = join(folder, 'keys');
  const serveWith = (...secrets: Buffer[]) => {
    writeFileSync(file, secrets.map((secret) => `${secret.toString('hex')}\n`).join(''), { mode: 0o600 });
    return startReusedServer(t, ['--demo', '--data', folder, '--signing-key-file', file]);
  };
  const limits = async (url: string, token: string) =>
    (await fetch(`${url}/api/intel/v1/limits`, { headers: { authorization: `Bearer ${token}` } })).status;

  const one = await serveWith(older);
  const token = await tokenOf(one.url, DEMO);
  await jwtVerify(token, older, { algorithms: ['HS256'], audience: 'intel' });
  await one.stop('SIGTERM');

  const two = await serveWith(newer, older);
  await jwtVerify(await tokenOf(two.url, DEMO), newer);
  assert.equal(await limits(two.url, token), 200);
  await urlwarden(['key', 'rotate', '--now', '--data', join(folder, 'demo')]);
  await jwtVerify(await tokenOf(two.url, DEMO), newer);
  assert.equal(await limits(two.url, token), 200, 'rotating the keys in the store has no effect');
  await two.stop('SIGTERM');

  const three = await serveWith(newer);
  assert.equal(await limits(three.url, token), 401);
});

test('serve refuses a key file that other users can read', async (t) => {
  const file = join(temporaryFolder(t), 'keys');
  writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o644 });
  const args = ['serve', '--port', '0', '--metrics-port', 'off', '--data', temporaryFolder(t)];
  const { code, stderr } = await urlwarden([...args, '--signing-key-file', file]);
  assert.deepEqual([code, stderr], [1, `${file} holds signing keys and is open to other users: run chmod 600 on it\n`]);
});
