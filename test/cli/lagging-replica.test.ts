import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openIntelligence } from '../../src/app/stores.ts';
import { paths } from '../../src/core/paths.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { startReusedServer, tokenOf } from './server.ts';
import { urlwarden } from './urlwarden.ts';

const ADA = { username: 'ada', password: 'correct horse' };

/** A primary, and a replica that has the tables, but never gets a row. */
async function open(t: TestContext) {
  const [primary, replica] = [await temporaryDatabase(t), await temporaryDatabase(t)];
  await (await openIntelligence({ dataDir: '', databaseUrl: replica })).close();
  const env = { URLWARDEN_DATABASE_URL: primary, URLWARDEN_DATABASE_READ_URL: replica };
  const run = async (args: string[], stdin = '') => {
    const { code, stdout, stderr } = await urlwarden(args, stdin, { env });
    assert.equal(code, 0, stderr || stdout);
    return stdout;
  };
  return { run, place: ['--database-url', primary, '--database-read-url', replica] };
}

test('while a replica lags, lists for devices and their explanations have the newest data', async (t) => {
  const { run, place } = await open(t);
  const row = { ts: Math.floor(Date.now() / 1000) - 60, url: 'http://bad.example/a.exe', status: 'online' };
  await run(['import', 'ndjson', '-'], JSON.stringify(row));
  await run(['account', 'add', ADA.username, '--tier', 'operator'], ADA.password);
  await assert.rejects(run(['lookup', row.url]), 'lookups use the replica');

  const { url } = await startReusedServer(t, [...place, '--data', temporaryFolder(t)]);
  const headers = { authorization: `Bearer ${await tokenOf(url, ADA)}` };
  const sent = await (await fetch(`${url}/api/lists/v1/hosts-malware.txt`, { headers })).text();
  assert.match(sent, /^bad\.example$/m);
  const explanation = await fetch(url + paths.portalListExplain.replace(':name', 'hosts-malware'), {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'bad.example' }),
  });
  assert.equal(((await explanation.json()) as { on_list: boolean }).on_list, true);

  assert.equal(await run(['export', '--list', 'hosts-malware']), sent);
  const explained = await run(['export', '--list', 'hosts-malware', '--explain', 'bad.example']);
  assert.match(explained, /^bad\.example is on hosts-malware\n/);
});

test('while a replica lags, commands of operators decide by what is set and listed', async (t) => {
  const { run } = await open(t);
  await run(['domain', 'set', 'shop.example', '--human', '+25', '--reason', 'cleaned']);
  const set = JSON.parse(await run(['domain', 'set', 'shop.example', '--abused', 'yes', '--json']));
  assert.deepEqual([set.human, set.abused, set.reason], [25, true, 'cleaned']);

  const listing = (...args: string[]) => run(['listing', ...args]);
  const add = () => listing('add', '203.0.113.7', '--dataset', 'XBL', '--allow-reserved');
  assert.match(await add(), /^203\.0\.113\.7 is listed in XBL until /);
  assert.equal(JSON.parse(await listing('remove', '203.0.113.7', '--json')).removed.length, 1);
  assert.match(await add(), /^203\.0\.113\.7 is listed in XBL until /, 'the removal ends');
});
