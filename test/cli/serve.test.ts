import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../temporary-folder.ts';
import { DEMO, startReusedServer, tokenOf } from './server.ts';
import { urlwarden } from './urlwarden.ts';

test('serve --demo answers from the folder DIR/demo, and checkpoints its databases on SIGTERM', async (t) => {
  const dataDir = temporaryFolder(t);
  const { url, stop } = await startReusedServer(t, ['--demo', '--data', dataDir]);
  const response = await query(url, DEMO, 'last', { url: 'http://203.0.113.7/bin.sh' });
  assert.equal(((await response.json()) as { status: { status: string } }).status.status, 'online');
  assert.deepEqual(readdirSync(dataDir), ['demo']);

  assert.equal(await stop('SIGTERM'), 0);
  const files = readdirSync(join(dataDir, 'demo'));
  assert.deepEqual(files, ['control.db', 'intelligence.db'], 'the write-ahead logs are checkpointed');
});

test('a second start of serve --demo keeps the data', async (t) => {
  const dataDir = temporaryFolder(t);
  const results: unknown[] = [];
  for (const _ of [1, 2]) {
    const { url, stdout, stop } = await startReusedServer(t, ['--demo', '--data', dataDir]);
    assert.match(stdout(), /^Pages: http:\S+\/ {3}log in as demo@example\.com with the password demo$/m);
    results.push(await (await query(url, DEMO, 'search', { ip: '0.0.0.0/0' })).text());
    await stop('SIGINT');
  }
  assert.equal(results[0], results[1]);
});

test('the first start creates an account operator, whose password is in a file that only its owner can read', async (t) => {
  const dataDir = join(temporaryFolder(t), 'new', 'folder');
  const { url, stdout, stop } = await startReusedServer(t, ['--data', dataDir]);
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
  const file = join(dataDir, 'operator-password');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const password = readFileSync(file, 'utf8').trim();
  assert.ok(password.length >= 20 && !stdout().includes(password) && stdout().includes(file));
  assert.equal((await query(url, { username: 'operator', password }, 'search', { ip: '0.0.0.0/0' })).status, 404);
  await stop('SIGTERM');
  const again = await startReusedServer(t, ['--data', dataDir]);
  assert.ok(!again.stdout().includes('Password'));
});

test('if the first password cannot be written to its file, the server starts and says how to set one', async (t) => {
  const dataDir = temporaryFolder(t);
  mkdirSync(join(dataDir, 'operator-password'));
  const { stdout } = await startReusedServer(t, ['--data', dataDir]);
  assert.match(stdout(), /^Password: could not be written to .*; set one with: urlwarden account passwd operator$/m);
});

test('serve --demo refuses a host that is not loopback', async () => {
  const { code, stderr } = await urlwarden(['serve', '--demo', '--host', '0.0.0.0']);
  assert.equal(code, 2);
  assert.match(stderr, /loopback/);
});

test('serve suggests another port when the port is in use, and has not created the first account yet', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const dataDir = temporaryFolder(t);
  const { code, stderr } = await urlwarden([
    'serve',
    '--port',
    `${port}`,
    '--metrics-port',
    `${port}`,
    '--data',
    dataDir,
  ]);
  assert.deepEqual(
    [code, stderr],
    [1, `Port ${port} on 127.0.0.1 is in use: choose another with --port, or --port 0 for any free one\n`],
  );
  await startReusedServer(t, ['--data', dataDir]);
  assert.ok(existsSync(join(dataDir, 'operator-password')), 'the next start creates it and shows its password');
});

test('serve reports a data folder that cannot be created', async () => {
  const { code, stderr } = await urlwarden(['serve', '--data', '/dev/null/data']);
  assert.equal(code, 1);
  assert.match(stderr, /^The data folder \/dev\/null\/data cannot be created: /);
});

test('serve reports all invalid settings together and refers to --help', async () => {
  const { code, stderr } = await urlwarden(['serve', '--port', 'x', '--host', 'nowhere', '--wat']);
  assert.equal(code, 2);
  assert.deepEqual(
    stderr.split('\n').map((line) => line.split(' ')[0]),
    ['--wat', '--host', '--port', 'See:', ''],
  );
});

async function query(url: string, account: typeof DEMO, what: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${await tokenOf(url, account)}` };
  return fetch(`${url}/api/intel/v2/byobject/url/${what}`, { method: 'POST', headers, body: JSON.stringify(body) });
}
