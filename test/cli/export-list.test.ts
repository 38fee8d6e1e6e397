import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { DEMO_ACCOUNT } from '../../src/accounts/first-account.ts';
import { openDatabase } from '../../src/database/postgres/database.ts';
import { startDemo } from '../example-runs.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';
import { redisServerUrl } from '../servers/urls.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { type RunningServer, startReusedServer } from './server.ts';
import { urlwarden } from './urlwarden.ts';

test('a list in a data folder', async (t) => {
  const folder = ['--data', join(temporaryFolder(t), 'data')];
  await useList(folder, async () => [await startReusedServer(t, folder)]);
});

test('a list on two nodes with PostgreSQL and Redis', async (t) => {
  const place = ['--database-url', await temporaryDatabase(t)];
  const redis = ['--redis-url', redisServerUrl(), '--redis-prefix', `test-${randomUUID()}`];
  const start = () => startReusedServer(t, [...place, ...redis, '--data', temporaryFolder(t)]);
  await useList(place, async () => [await start(), await start()]);
});

test('a list of demo data has the bytes that the demo server sends', async (t) => {
  const { url, dataDir } = await startDemo(t);
  const body = JSON.stringify({ ...DEMO_ACCOUNT, realm: 'intel' });
  const { token } = (await (await fetch(`${url}/api/v1/login`, { method: 'POST', body })).json()) as { token: string };
  const headers = { authorization: `Bearer ${token}` };
  const sent = await (await fetch(`${url}/api/lists/v1/addresses-xbl.txt`, { headers })).text();
  const { code, stdout, stderr } = await urlwarden(['export', '--list', 'addresses-xbl', '--data', dataDir]);
  assert.deepEqual([code, stdout, stderr], [0, sent, '']);
  assert.match(stdout, /^203\.0\.113\./m);
});

test('after a failover of PostgreSQL, the serial of an exported list grows, also if no server runs', async (t) => {
  const databaseUrl = await temporaryDatabase(t);
  const place = ['--database-url', databaseUrl];
  const imported = await urlwarden(['import', 'url-list', '-', ...place], 'http://a.example/x\n');
  assert.equal(imported.code, 0, imported.stderr);
  const serial = async () => {
    const { stdout } = await urlwarden(['export', '--list', 'urls-online', '--format', 'txt', ...place]);
    return Number(/^# Serial: (\d+)$/m.exec(stdout)?.[1]);
  };
  const before = await serial();
  assert.equal(await serial(), before);
  const db = openDatabase(databaseUrl, { connections: 1, role: 'read-write' });
  t.after(() => db.close());
  await db.run(`update change_numbers set place = 'before the failover'`);
  assert.ok((await serial()) > before);
});

/**
 * What a person does with a list: data, a key, devices that fetch it, the same by command, a mistake that is explained and
 * excluded, a key that is revoked.
 */
async function useList(place: string[], startNodes: () => Promise<RunningServer[]>) {
  const run = async (args: string[], stdin = '') => {
    const { code, stdout, stderr } = await urlwarden([...args, ...place], stdin);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const ts = Math.floor(Date.now() / 1000) - 60;
  const seen = (url: string) => `${JSON.stringify({ ts, url, status: 'online' })}\n`;
  await run(['import', 'ndjson', '-'], seen('http://bad.example/a.exe') + seen('http://raw.githubusercontent.com/x/y'));
  await run(['account', 'add', 'ada@example.com'], 'correct horse battery\n');
  const { key, id } = JSON.parse(
    await run(['list', 'key', 'add', 'hosts-malware', 'resolver', '--account', 'ada@example.com', '--json']),
  );
  const nodes = await startNodes();
  const get = (format: string, node = nodes[0]) => fetch(`${node?.url}/api/lists/v1/${key}/hosts-malware.${format}`);

  for (const format of ['txt', 'rpz', 'unbound', 'suricata', 'csv', 'ndjson']) {
    const exported = await run(['export', '--list', 'hosts-malware', '--format', format]);
    const etags = new Set<string | null>();
    for (const node of nodes) {
      const response = await get(format, node);
      assert.equal(response.status, 200, format);
      assert.equal(await response.text(), exported, format);
      etags.add(response.headers.get('etag'));
    }
    assert.equal(etags.size, 1, format);
  }
  const txt = await get('txt');
  assert.equal(txt.headers.get('x-list-left-out'), 'shared-site=1');
  assert.deepEqual((await txt.text()).split('\n').slice(-2), ['bad.example', '']);
  assert.match(
    await run(['export', '--list', 'hosts-malware']),
    /^# No list of popular sites, shared sites or URL shorteners is imported: /m,
  );
  const explain = (text: string) => run(['export', '--list', 'hosts-malware', '--explain', text]);
  assert.match(await explain('bad[.]example'), /^bad\.example is on hosts-malware\n/);
  assert.match(
    await explain('raw.githubusercontent.com'),
    /^raw\.githubusercontent\.com is not on hosts-malware\n {2}.+/,
  );

  await run(['list', 'exclude', 'bad.example', '--reason', 'a customer']);
  for (const node of nodes) {
    const isFollowed = async () => !(await (await get('txt', node)).text()).includes('bad.example');
    await until(isFollowed, 'the list follows the exclusion');
  }
  assert.match(await explain('bad.example'), /not on hosts-malware\n.*a customer/);

  await run(['list', 'key', 'remove', String(id)]);
  for (const node of nodes)
    await until(async () => (await get('txt', node)).status === 401, 'the key is refused', 5_000);
}
