import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../temporary-folder.ts';
import { startUrlwarden, urlwarden } from './urlwarden.ts';

const DEMO = { username: 'demo@example.com', password: 'demo' };

test('serve --demo answers, in a folder of its own, and closes clean on SIGTERM', async (t) => {
  const dataDir = temporaryFolder(t);
  const { url, child } = await start(t, ['--demo', '--data', dataDir]);
  const answer = await ask(url, DEMO, 'last', { url: 'http://203.0.113.7/bin.sh' });
  assert.equal(((await answer.json()) as { status: { status: string } }).status.status, 'online');
  assert.deepEqual(readdirSync(dataDir), ['demo']);

  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
  const left = readdirSync(join(dataDir, 'demo'));
  assert.deepEqual(left, ['control.db', 'intelligence.db'], 'the logs are folded back into the databases');
});

test('serve --demo started again keeps its data as it is', async (t) => {
  const dataDir = temporaryFolder(t);
  const answers: unknown[] = [];
  for (const _ of [1, 2]) {
    const { url, child, output } = await start(t, ['--demo', '--data', dataDir]);
    assert.match(output, /^Account: demo@example\.com\nPassword: demo$/m);
    answers.push(await (await ask(url, DEMO, 'search', { ip: '0.0.0.0/0' })).text());
    child.kill('SIGINT');
    await once(child, 'exit');
  }
  assert.equal(answers[0], answers[1]);
});

test('serve starts empty and ready, with an operator whose password only its owner can read, once', async (t) => {
  const dataDir = join(temporaryFolder(t), 'made', 'here');
  const { url, child, output } = await start(t, ['--data', dataDir]);
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
  const file = join(dataDir, 'operator-password');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const password = readFileSync(file, 'utf8').trim();
  assert.ok(password.length >= 20 && !output.includes(password) && output.includes(file));
  assert.equal((await ask(url, { username: 'operator', password }, 'search', { ip: '0.0.0.0/0' })).status, 404);
  child.kill('SIGTERM');
  await once(child, 'exit');
  const again = await start(t, ['--data', dataDir]);
  assert.ok(!again.output.includes('Password'));
});

test('serve --demo answers on loopback only', async () => {
  const { code, stderr } = await urlwarden(['serve', '--demo', '--host', '0.0.0.0']);
  assert.equal(code, 2);
  assert.match(stderr, /loopback/);
});

test('serve says what to do when the port is taken', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const { code, stderr } = await urlwarden([
    'serve',
    '--port',
    `${port}`,
    '--metrics-port',
    'off',
    '--data',
    temporaryFolder(t),
  ]);
  assert.deepEqual(
    [code, stderr],
    [1, `Port ${port} on 127.0.0.1 is taken: choose another with --port, or --port 0 for any free one\n`],
  );
});

test('serve says what is wrong with the data folder', async () => {
  const { code, stderr } = await urlwarden(['serve', '--data', '/dev/null/data']);
  assert.equal(code, 1);
  assert.match(stderr, /^The data folder \/dev\/null\/data cannot be made: /);
});

test('serve reports all faulty settings and where to read on', async () => {
  const { code, stderr } = await urlwarden(['serve', '--port', 'x', '--host', 'nowhere', '--wat']);
  assert.equal(code, 2);
  assert.deepEqual(
    stderr.split('\n').map((line) => line.split(' ')[0]),
    ['--wat', '--host', '--port', 'See:', ''],
  );
});

async function start(t: TestContext, args: string[]): Promise<{ url: string; child: ChildProcess; output: string }> {
  const child = startUrlwarden(['serve', '--port', '0', '--metrics-port', 'off', ...args]);
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  for await (const chunk of child.stdout) {
    output += chunk;
    const url = /answers on (\S+)\n/.exec(output)?.[1];
    if (url !== undefined) return { url, child, output };
  }
  throw new Error(`it ended before it listened: ${output}`);
}

async function ask(url: string, account: object, what: string, question: object): Promise<Response> {
  const login = await fetch(`${url}/api/v1/login`, {
    method: 'POST',
    body: JSON.stringify({ ...account, realm: 'intel' }),
  });
  const { token } = (await login.json()) as { token: string };
  const headers = { authorization: `Bearer ${token}` };
  return fetch(`${url}/api/intel/v2/byobject/url/${what}`, { method: 'POST', headers, body: JSON.stringify(question) });
}
