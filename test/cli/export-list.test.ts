import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { startServer } from './server.ts';
import { urlwarden } from './urlwarden.ts';

/** What a person does with a list: data, a key, a device that fetches, a mistake that is excluded, a key that is revoked. */
test('a list is the same by command and by server, is explained, follows exclusions, and its key can be revoked', async (t) => {
  const folder = ['--data', join(temporaryFolder(t), 'data')];
  const run = async (args: string[], stdin = '') => {
    const { code, stdout, stderr } = await urlwarden([...args, ...folder], stdin);
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
  const { url } = await startServer(t, folder);
  const get = (format: string) => fetch(`${url}/api/lists/v1/${key}/hosts-malware.${format}`);

  for (const format of ['txt', 'rpz', 'unbound', 'suricata', 'csv', 'ndjson']) {
    const answer = await get(format);
    assert.equal(answer.status, 200, format);
    assert.equal(await answer.text(), await run(['export', '--list', 'hosts-malware', '--format', format]), format);
  }
  const txt = await get('txt');
  assert.equal(txt.headers.get('x-list-left-out'), 'shared-site=1');
  assert.deepEqual((await txt.text()).split('\n').slice(-2), ['bad.example', '']);
  const explain = (text: string) => run(['export', '--list', 'hosts-malware', '--explain', text]);
  assert.match(await explain('bad.example'), /^bad\.example is on hosts-malware\n/);
  assert.match(
    await explain('raw.githubusercontent.com'),
    /^raw\.githubusercontent\.com is not on hosts-malware\n {2}.+/,
  );

  await run(['list', 'exclude', 'bad.example', '--reason', 'a customer']);
  await until(async () => !(await (await get('txt')).text()).includes('bad.example'), 'the list follows the exclusion');
  assert.match(await explain('bad.example'), /not on hosts-malware\n.*a customer/);

  await run(['list', 'key', 'remove', String(id)]);
  await until(async () => (await get('txt')).status === 401, 'the key is refused', 5_000);
});
