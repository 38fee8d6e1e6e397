import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { promote, startPair } from '../servers/postgres-pair.ts';
import { redisServerUrl } from '../servers/urls.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { startServer, tokenOf } from './server.ts';
import { urlwarden } from './urlwarden.ts';

const ADA = { username: 'ada', password: 'correct horse' };
const LAST = '/api/intel/v2/byobject/url/last';
const URLS = 50;
const urlOf = (i: number) => `http://192.0.2.${i}/x`;
/** From the promotion on; the nodes look for a new primary about once a second. */
const RECOVERY_MS = 20_000;

test('the primary is killed under load: nodes answer right or 503, and recover by themselves', {
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
  const nodes = await Promise.all([startServer(t, args), startServer(t, args)]);
  const headers = { authorization: `Bearer ${await tokenOf(nodes[0].url, ADA)}` };

  const answers = new Map<number, number>();
  const wrong: string[] = [];
  let isStopped = false;
  const ask = async (node: string, from: number) => {
    for (let i = from; !isStopped; i++) {
      const url = urlOf(i % URLS);
      const answer = await fetch(node + LAST, { method: 'POST', headers, body: JSON.stringify({ url }) });
      const body = (await answer.json()) as { url?: string; status?: { ts: number } };
      answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1);
      const isRight = answer.status === 200 && body.url === url && body.status?.ts === 1_767_225_600;
      const isRefused = answer.status === 503 && answer.headers.has('retry-after');
      if (!isRight && !isRefused) wrong.push(`${answer.status} ${JSON.stringify(body)}`);
      if (!isRight) await setTimeout(50);
    }
  };
  const asking = nodes.flatMap(({ url }) => [ask(url, 0), ask(url, 17), ask(url, 31)]);
  const until = async (isSo: () => boolean, what: string) => {
    for (const givesUpAt = Date.now() + RECOVERY_MS; !isSo(); await setTimeout(50)) {
      assert.ok(Date.now() < givesUpAt, `${what}: not in time; ${JSON.stringify([...answers])}`);
    }
  };
  await until(() => (answers.get(200) ?? 0) > 200, 'there is load');
  await primary.stop('SIGQUIT');
  await until(() => (answers.get(503) ?? 0) > 0, 'the loss shows');
  await promote(standby);
  const before = answers.get(200) ?? 0;
  await until(() => (answers.get(200) ?? 0) > before + 200, 'the nodes answer again');
  isStopped = true;
  await Promise.all(asking);
  assert.deepEqual(wrong, []);
  // Both, and what is written too: an account that is made now can log in at either.
  assert.equal((await urlwarden(['account', 'add', 'bob', ...data], ADA.password)).code, 0);
  for (const { url } of nodes) assert.ok(await tokenOf(url, { ...ADA, username: 'bob' }));
});
