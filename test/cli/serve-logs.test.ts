import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAccount } from '../../src/accounts/manage.ts';
import { openControl } from '../../src/app/stores.ts';
import { paths } from '../../src/core/paths.ts';
import { DEFAULT_TIER } from '../../src/core/tier.ts';
import { exampleOf, ROUTES, until } from '../http/build.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { logIn, startReusedServer, tokenOf } from './server.ts';
import { urlwarden } from './urlwarden.ts';

const ADA = { username: 'ada@example.com', password: 'adas-Own-secret-7341' };
const WRONG = 'a-Wrong-secret-9127';
/** One for each Authorization header: an account that logs in more than ten times is delayed by seconds. */
const USERNAMES = [ADA.username, 'bob@example.com', 'carl@example.com', 'dora@example.com', 'eve@example.com'];
const BASIC = Buffer.from(`ada:${WRONG}`).toString('base64');

test('no secret is logged or printed at the level debug, even when requests fail', async (t) => {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, 'data');
  const secret = randomBytes(32);
  const keyFile = join(folder, 'keys');
  writeFileSync(keyFile, secret.toString('hex'), { mode: 0o600 });
  const added = await urlwarden(['account', 'add', ADA.username, '--data', dataDir], `${ADA.password}\n`);
  assert.equal(added.code, 0, added.stderr);
  await addOthers(dataDir);
  const args = ['--data', dataDir, '--signing-key-file', keyFile, '--log-level', 'debug', '--metrics-port', '0'];
  const server = await startReusedServer(t, args);
  const { url } = server;
  const token = await tokenOf(url, ADA);

  const paths = ROUTES.map(({ endpoint: { method, path } }) => ({ method, path: exampleOf(path) }));
  const authorizations = [`Bearer ${token}`, `Bearer ${token}x`, `Basic ${BASIC}`, WRONG, ''];
  const bodiesOf = (username: string) => [
    JSON.stringify({ ...ADA, username, realm: 'intel', url: 'x', ip: WRONG }),
    `{"password":"${WRONG}`,
    WRONG,
  ];
  const sendAll = async () => {
    const statuses = new Set<number>();
    for (const { method, path } of paths) {
      for (const [i, authorization] of authorizations.entries()) {
        for (const body of method === 'POST' ? bodiesOf(USERNAMES[i] ?? '') : [null]) {
          const response = await fetch(`${url}${path}?token=${token}`, { method, headers: { authorization }, body });
          statuses.add(response.status);
          await response.arrayBuffer();
        }
      }
    }
    await fetch(`${url}/${token}/${WRONG}`);
    await logIn(url, { ...ADA, password: WRONG });
    return statuses;
  };
  await sendAll();
  await fetch(`${url}/api/v1/login`, { method: 'POST', body: WRONG.repeat(5_000) });
  for (const name of ['intelligence.db', 'control.db']) renameSync(join(dataDir, name), join(folder, name));
  await until(() => server.stderr().includes('a database or service is unavailable'));
  const statuses = await sendAll();
  assert.ok(statuses.has(503), 'a store error occurred');
  for (const name of ['intelligence.db', 'control.db']) renameSync(join(folder, name), join(dataDir, name));
  const metrics = await (await fetch(/^Metrics: (\S+)$/m.exec(server.stdout())?.[1] ?? '')).text();
  assert.equal(await server.stop('SIGTERM'), 0);

  const control = await openControl({ dataDir });
  t.after(() => control.close());
  const [, signature = ''] = /\.([^.]+)$/.exec(token) ?? [];
  const log = server.stderr();
  for (const expected of ['a database or service is unavailable', '"msg":"login"', 'started', 'stopped'])
    assert.ok(log.includes(expected), expected);
  const written = [log, server.stdout(), added.stdout, added.stderr, metrics].join('\n');
  const secrets = {
    password: ADA.password,
    'wrong password': WRONG,
    token,
    signature,
    claims: token.split('.')[1] ?? '',
    credentials: BASIC,
    scheme: 'Bearer',
    'signing key': secret.toString('hex'),
    'signing key in base64url': secret.toString('base64url'),
    hash: 'argon2',
  };
  assert.ok((await control.accounts()).every(({ passwordHash }) => passwordHash.includes(secrets.hash)));
  for (const [name, text] of Object.entries(secrets)) assert.ok(text !== '' && !written.includes(text), name);
});

async function addOthers(dataDir: string): Promise<void> {
  const control = await openControl({ dataDir });
  const others = USERNAMES.slice(1);
  for (const username of others) await createAccount(control, { ...ADA, username, tier: DEFAULT_TIER }, 0);
  await control.close();
}

test('--access-log-sample writes a line for each request at every log level, without secrets', async (t) => {
  const args = ['--demo', '--data', temporaryFolder(t), '--access-log-sample', '1', '--access-log-queries'];
  const server = await startReusedServer(t, args);
  const account = { username: 'demo@example.com', password: 'demo' };
  const authorization = `Bearer ${await tokenOf(server.url, account)}`;
  const url = 'http://203.0.113.7/bin.sh';
  const body = JSON.stringify({ url });
  const response = await fetch(server.url + paths.urlLast, { method: 'POST', headers: { authorization }, body });
  const requestId = response.headers.get('x-request-id');
  await response.arrayBuffer();
  await server.stop('SIGTERM');
  const lines = server.stderr().split('\n').filter(Boolean);
  const [login, last, ...others] = lines.map((line) => JSON.parse(line));
  assert.deepEqual([login.route, login.status, login.query, others], [paths.login, 200, undefined, []]);
  const { sub, ms, bytes, query } = last;
  assert.deepEqual([last.requestId, last.route, query], [requestId, paths.urlLast, { url }]);
  assert.ok(/^\d{8}$/.test(sub) && ms > 0 && bytes > 0);
  for (const secret of ['"demo"', 'Bearer', account.username]) assert.ok(!server.stderr().includes(secret), secret);
});

test('the password of the first account is only in its file', async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await startReusedServer(t, ['--data', dataDir, '--log-level', 'debug']);
  const password = readFileSync(join(dataDir, 'operator-password'), 'utf8').trim();
  await logIn(server.url, { username: 'operator', password });
  await server.stop('SIGTERM');
  assert.ok(password.length >= 20 && !(server.stdout() + server.stderr()).includes(password));
});

for (const { level, log } of [
  { level: 'warn', log: [] },
  { level: 'info', log: ['listening', 'audit', 'started', 'stopping', 'stopped'] },
]) {
  test(`a healthy server logs at ${level}: ${log.join(', ') || 'nothing'}`, async (t) => {
    const server = await startReusedServer(t, ['--demo', '--data', temporaryFolder(t), '--log-level', level]);
    await logIn(server.url, { username: 'demo@example.com', password: WRONG });
    await fetch(`${server.url}/nowhere`);
    await server.stop('SIGTERM');
    const lines = server.stderr().split('\n').filter(Boolean);
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).msg.split(' ')[0]),
      log,
    );
  });
}

test('the line of a thread that listens after the start has its number', async (t) => {
  const args = ['--demo', '--data', temporaryFolder(t), '--log-level', 'info', '--threads', '2'];
  const server = await startReusedServer(t, args);
  const listening = () => server.stderr().match(/listening on [^"]+/g) ?? [];
  await until(() => listening().length === 2);
  assert.deepEqual(listening(), [`listening on ${server.url}`, `listening on ${server.url} (thread 1)`]);
});
