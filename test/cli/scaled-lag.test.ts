import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { cutOff, promote, startPair } from '../servers/postgres-pair.ts';
import { redisServerUrl } from '../servers/urls.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { logIn, startReusedServer, tokenOf } from './server.ts';
import { urlwarden } from './urlwarden.ts';

const PASSWORD = 'correct horse';
const LAST = '/api/intel/v2/byobject/url/last';
const T = 1_767_225_600;

test('after a failover to a standby that lagged, nodes answer from what it has, and an import brings the rest back', {
  timeout: 120_000,
}, async (t) => {
  const pair = await startPair(t, { isSynchronous: false });
  const { primary, standby } = pair;
  const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
  const data = ['--database-url', `postgres://postgres@${hosts}/postgres`];
  const run = async (args: string[], stdin?: string) => {
    const outcome = await urlwarden([...args, ...data], stdin);
    assert.equal(outcome.code, 0, outcome.stderr);
    return outcome.stdout;
  };
  const importAll = (urls: string[], ts: number, status: string) =>
    run(['import', 'ndjson', '-'], urls.map((url) => JSON.stringify({ ts, url, status })).join('\n'));
  const urlsOf = (network: string) => Array.from({ length: 20 }, (_, i) => `http://${network}.${i}/`);
  const [kept, lost] = [urlsOf('192.0.2'), urlsOf('198.51.100')];

  for (const name of ['ada', 'eve']) await run(['account', 'add', name, '--tier', 'operator'], PASSWORD);
  await importAll(kept, T, 'online');
  const redis = ['--redis-url', redisServerUrl(), '--redis-prefix', `test-${randomUUID()}`];
  const args = [...data, ...redis, '--data', temporaryFolder(t)];
  const nodes = await Promise.all([startReusedServer(t, args), startReusedServer(t, args)]);
  const authorizationOf = async (username: string) =>
    `Bearer ${await tokenOf(nodes[0].url, { username, password: PASSWORD })}`;
  const ada = await authorizationOf('ada');
  const query = async (node: (typeof nodes)[0], url: string, authorization = ada) => {
    const body = JSON.stringify({ url });
    const response = await fetch(node.url + LAST, { method: 'POST', headers: { authorization }, body });
    return { status: response.status, last: (await response.json()) as { url?: string; status?: { ts: number } } };
  };
  const queriesOf = async (node: (typeof nodes)[0]) => {
    const response = await fetch(`${node.url}/api/intel/v1/limits`, { headers: { authorization: ada } });
    return ((await response.json()) as { current: { qpm: number } }).current.qpm;
  };

  await cutOff(pair);
  // All of this is acknowledged, and lost.
  await importAll([...kept, ...lost], T + 60, 'offline');
  await run(['account', 'add', 'bob', '--tier', 'operator'], PASSWORD);
  await run(['account', 'disable', 'eve']);
  const bob = await authorizationOf('bob');
  for (const node of nodes) {
    assert.equal((await query(node, kept[0] ?? '')).last.status?.ts, T + 60);
    assert.equal((await query(node, lost[0] ?? '', bob)).status, 200);
  }
  const before = await run(['export']);
  const counted = await queriesOf(nodes[0]);
  const eve = { username: 'eve', password: PASSWORD };
  assert.deepEqual([counted, (await logIn(nodes[0].url, eve)).status], [nodes.length, 401]);

  await primary.stop('SIGQUIT');
  await promote(standby);
  for (const node of nodes) {
    await until(async () => (await query(node, kept[0] ?? '')).status === 200, 'recovery');
    for (const url of kept) {
      const { last } = await query(node, url);
      assert.deepEqual([last.url, last.status?.ts], [url, T]);
    }
    for (const url of lost) assert.equal((await query(node, url)).status, 404);
    await until(async () => (await query(node, kept[0] ?? '', bob)).status === 401, 'the lost account is unknown');
    assert.equal((await logIn(node.url, eve)).status, 200, 'her account is enabled again');
    assert.ok((await queriesOf(node)) > counted + kept.length, 'Redis has kept the counts');
  }
  await run(['account', 'disable', 'eve']);
  await importAll([...kept, ...lost], T + 60, 'offline');
  assert.equal(await run(['export']), before);
  for (const node of nodes) {
    for (const url of [...kept, ...lost]) assert.equal((await query(node, url)).last.status?.ts, T + 60);
    assert.equal((await fetch(`${node.url}/readyz`)).status, 200);
  }
});
