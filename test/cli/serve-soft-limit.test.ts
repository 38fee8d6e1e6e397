import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createAccount } from '../../src/accounts/manage.ts';
import { openControl } from '../../src/app/stores.ts';
import { paths } from '../../src/core/paths.ts';
import { ALL_AUDIT } from '../audit/audit-entry.ts';
import { startReceiver } from '../audit/receiver.ts';
import { tier } from '../http/with-accounts.ts';
import { makeDatabase } from '../servers/temporary-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { startReusedServer, tokenOf } from './server.ts';
import { urlwarden } from './urlwarden.ts';

const ADA = { username: 'ada@example.com', password: 'adas-Own-secret-7341' };
const SOFT = 2;
const HARD = 5;

/** An account with a soft limit of two queries, and the arguments of a server with a webhook. */
async function prepare(t: TestContext, hook: string, databaseUrl: string | null) {
  const folder = temporaryFolder(t);
  const place = { dataDir: join(folder, 'data'), databaseUrl };
  const control = await openControl(place);
  t.after(() => control.close());
  await control.putTier(tier({ qms: SOFT, qmh: HARD }));
  const { sub } = await createAccount(control, { ...ADA, tier: 'tested' }, 1_700_000_000);
  const secretFile = join(folder, 'secret');
  writeFileSync(secretFile, `${'s'.repeat(32)}\n`, { mode: 0o600 });
  const args = [
    ...(databaseUrl === null ? ['--data', place.dataDir] : ['--database-url', databaseUrl]),
    '--soft-limit-webhook-url',
    hook,
    '--soft-limit-webhook-secret-file',
    secretFile,
    '--soft-limit-webhook-allow-private',
    '127.0.0.1',
    '--log-level',
    'info',
  ];
  return { control, sub, args, secretFile };
}

async function ask(url: string, token: string): Promise<{ status: number; message: string }> {
  const response = await fetch(`${url}${paths.urlLast}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ url: 'http://192.0.2.1/' }),
  });
  return { status: response.status, message: ((await response.json()) as { message: string }).message };
}

for (const engine of ['SQLite', 'PostgreSQL'] as const) {
  test(`an account that passes its soft limit is reported once, by several servers on ${engine}`, async (t) => {
    const { received, url: hook } = await startReceiver(t);
    const { control, sub, args } = await prepare(t, hook, engine === 'SQLite' ? null : await makeDatabase());
    const [one, two] = [await startReusedServer(t, args), await startReusedServer(t, args)];
    const token = await tokenOf(one.url, ADA);
    for (let i = 0; i < SOFT; i++) assert.equal((await ask(one.url, token)).status, 404);
    assert.equal(received.length, 0);
    for (const { url } of [one, one, two, two, two]) await ask(url, token);
    await until(() => received.length > 0, 'the webhook');
    assert.deepEqual([await one.stop('SIGTERM'), await two.stop('SIGTERM')], [0, 0]);
    const again = await startReusedServer(t, args); // finds the account above its limit at its start
    await ask(again.url, token);
    assert.equal(await again.stop('SIGTERM'), 0);

    assert.equal(received.length, 1);
    const { event, ...details } = JSON.parse(received[0]?.body ?? '');
    assert.deepEqual(
      [event, details.sub, details.username, details.limit],
      ['account.soft-limit', sub, ADA.username, SOFT],
    );
    const entries = await control.auditEntries({ ...ALL_AUDIT, action: 'account.soft-limit' });
    assert.deepEqual(
      entries.map(({ source, subject }) => [source, subject]),
      [['server', ADA.username]],
    );
    const log = [one, two, again].map(({ stderr }) => stderr()).join('');
    const lines = log.split('\n').filter((line) => line.includes('"account.soft-limit"'));
    assert.equal(lines.length, 1);
    assert.partialDeepStrictEqual(JSON.parse(lines[0] ?? ''), { level: 30, msg: 'audit', subject: sub });
    assert.ok(!log.includes(ADA.username) && !log.includes('"level":50'), log);
  });
}

test('a refused query gets the time when the limit is reset', async (t) => {
  const { url: hook } = await startReceiver(t);
  const { args } = await prepare(t, hook, null);
  const { url } = await startReusedServer(t, args);
  const token = await tokenOf(url, ADA);
  for (let i = 0; i < HARD; i++) assert.equal((await ask(url, token)).status, 404);
  const { status, message } = await ask(url, token);
  assert.equal(status, 429);
  assert.match(message, /^The limit qmh is reached \(5 per month\); try again in \d+ s, at \d{4}-\d{2}-01T00:00:00Z$/);
});

test('the changes that a server makes at its first start are in the audit log, and in its log', async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await startReusedServer(t, ['--data', dataDir, '--log-level', 'info']);
  await server.stop('SIGTERM');
  const second = await startReusedServer(t, ['--data', dataDir]);
  await second.stop('SIGTERM');
  const entries = JSON.parse((await urlwarden(['audit', '--json', '--data', dataDir])).stdout);
  assert.partialDeepStrictEqual(entries, [
    { action: 'account.add', subject: 'operator', source: 'server', changes: { tier: { old: null, new: 'operator' } } },
    { action: 'key.add', source: 'server', changes: {} },
  ]);
  assert.equal(entries.length, 2);
  assert.equal(server.stderr().match(/"msg":"audit"/g)?.length, 2);
});

test('a webhook needs a secret that others cannot read', async (t) => {
  const { args, secretFile } = await prepare(t, 'https://hook.example/', null);
  const refusal = async (...flags: string[]) => (await urlwarden(['serve', '--port', '0', ...flags])).stderr;
  assert.match(await refusal('--soft-limit-webhook-url', 'https://hook.example/'), /belong together: set both/);
  assert.match(await refusal('--soft-limit-webhook-url', 'ftp://hook.example/'), /must be an http or https URL/);
  chmodSync(secretFile, 0o644);
  assert.match(await refusal(...args), /holds secrets of the webhook and is open to other users/);
  chmodSync(secretFile, 0o600);
  writeFileSync(secretFile, 'short\n');
  assert.match(await refusal(...args), /has less than 32 characters/);
});
