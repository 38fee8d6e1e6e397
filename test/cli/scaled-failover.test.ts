import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { promote, startPair } from '../servers/postgres-pair.ts';
import { redisServerUrl } from '../servers/urls.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { startReusedServer, tokenOf } from './server.ts';
import { urlwarden } from './urlwarden.ts';

const ADA = { username: 'ada', password: 'correct horse' };
const LAST = '/api/intel/v2/byobject/url/last';
const URLS = 50;
const urlOf = (i: number) => `http://192.0.2.${i}/x`;

test('when the primary is killed under load, nodes answer correctly or with 503, and recover after the promotion', {
  timeout: 120_000,
}, async (t) => {
  const { primary, standby } = await startPair(t);
  const databaseUrl = `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`;
  const data = ['--database-url', databaseUrl];
  assert.equal((await urlwarden(['account', 'add', 'ada', '--tier', 'operator', ...data], ADA.password)).code, 0);
  const list = Array.from({ length: URLS }, (_, i) => urlOf(i)).join('\n');
  assert.equal((await urlwarden(['import', 'url-list', '-', '--as-of', '1767225600', ...data], list)).code, 0);
  const redis = ['--redis-url', redisServerUrl(), '--redis-prefix', `test-${randomUUID()}`];
  const args = [...data, ...redis, '--data', temporaryFolder(t)];
  const nodes = await Promise.all([startReusedServer(t, args), startReusedServer(t, args)]);
  const headers = { authorization: `Bearer ${await tokenOf(nodes[0].url, ADA)}` };

  const counts = new Map<number, number>();
  const wrong: string[] = [];
  let isStopped = false;
  const sendRequests = async (node: string, from: number) => {
    for (let i = from; !isStopped; i++) {
      const url = urlOf(i % URLS);
      const response = await fetch(node + LAST, { method: 'POST', headers, body: JSON.stringify({ url }) });
      const body = (await response.json()) as { url?: string; status?: { ts: number } };
      counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
      const isCorrect = response.status === 200 && body.url === url && body.status?.ts === 1_767_225_600;
      const isRefused = response.status === 503 && response.headers.has('retry-after');
      if (!isCorrect && !isRefused) wrong.push(`${response.status} ${JSON.stringify(body)}`);
      if (!isCorrect) await setTimeout(50);
    }
  };
  const clients = nodes.flatMap(({ url }) => [sendRequests(url, 0), sendRequests(url, 17), sendRequests(url, 31)]);
  await until(() => (counts.get(200) ?? 0) > 200, 'load');
  await primary.stop('SIGQUIT');
  await until(() => (counts.get(503) ?? 0) > 0, 'requests fail');
  await promote(standby);
  const before = counts.get(200) ?? 0;
  await until(() => (counts.get(200) ?? 0) > before + 200, 'recovery');
  isStopped = true;
  await Promise.all(clients);
  assert.deepEqual(wrong, []);
  // Writes work again too: a new account can log in at both nodes.
  assert.equal((await urlwarden(['account', 'add', 'bob', ...data], ADA.password)).code, 0);
  for (const { url } of nodes) assert.ok(await tokenOf(url, { ...ADA, username: 'bob' }));
});
