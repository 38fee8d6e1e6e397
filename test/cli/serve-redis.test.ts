import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { until } from '../http/build.ts';
import { startRedis } from '../servers/redis.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { DEMO, logIn, type RunningServer, startReusedServer, tokenOf } from './server.ts';

/** The URL is unknown; the query is accepted and counted. */
const ACCEPTED = 404;
/** Redis is checked once a second, and must answer within half a second. The rest is for a busy machine. */
const NOTICED_MS = 5_000;

test('servers that share a Redis count queries and failed logins together; while it is down, each counts alone', async (t) => {
  const redis = await startRedis({ args: ['--requirepass', 'hunter2'] });
  t.after(() => redis.stop());
  const url = `redis://:hunter2@127.0.0.1:${redis.port}`;
  const [a, b] = await startTwo(t, url, 'local');
  const authorization = `Bearer ${await tokenOf(a.url, DEMO)}`;
  for (const node of [a, b, a]) assert.equal((await query(node, authorization)).status, ACCEPTED);
  for (const node of [a, b]) assert.equal(await queriesToday(node, authorization), 3);
  assert.equal((await readiness(a)).limits, 'shared');

  for (let i = 0; i < 10; i++) await logIn(a.url, { ...DEMO, username: 'bob' });
  assert.equal((await logIn(b.url, { ...DEMO, username: 'bob' })).status, 429);

  await redis.stop('SIGKILL');
  for (let i = 0; i < 3; i++) assert.equal((await query(a, authorization)).status, ACCEPTED);
  assert.equal(await queriesToday(a, authorization), 6);
  assert.equal((await readiness(a)).limits, 'local');
  const text = await (await fetch(/^Metrics: (\S+)$/m.exec(a.stdout())?.[1] ?? '')).text();
  assert.match(text, /^urlwarden_redis_up 0$/m);
  assert.match(text, /^urlwarden_counted_locally_total 3$/m);

  const again = await startRedis({ port: redis.port, args: ['--requirepass', 'hunter2'] });
  t.after(() => again.stop());
  await until(() => a.stderr().includes('Redis is back'));
  assert.equal((await readiness(a)).limits, 'shared');
  for (const node of [a, b]) assert.equal(await queriesToday(node, authorization), 6);
  assert.equal(a.stderr().match(/Redis is down; this server counts alone/g)?.length, 1);
  assert.equal(await a.stop('SIGTERM'), 0);
  assert.doesNotMatch(a.stderr(), /hunter2|"level":50/);
});

test('with refuse, queries get 503 with Retry-After while Redis is down, which is logged once', async (t) => {
  const redis = await startRedis();
  t.after(() => redis.stop());
  const [a] = await startTwo(t, redis.url, 'refuse');
  const authorization = `Bearer ${await tokenOf(a.url, DEMO)}`;
  assert.equal((await query(a, authorization)).status, ACCEPTED);
  await redis.stop('SIGKILL');
  for (let i = 0; i < 5; i++) {
    const response = await query(a, authorization);
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '1']);
  }
  assert.equal((await fetch(`${a.url}/readyz`)).status, 503);
  assert.equal((await fetch(`${a.url}/healthz`)).status, 200);
  assert.equal((await logIn(a.url, DEMO)).status, 200);
  assert.equal(await a.stop('SIGTERM'), 0);
  // After a second, which may be over, the reason follows.
  assert.equal(a.stderr().match(/"level":[45]0(?!.*there is no connection to Redis)/g)?.length, 1, a.stderr());
});

test('an idle server notices within seconds that Redis hangs or is stopped, and that it is back', async (t) => {
  let redis = await startRedis();
  t.after(() => redis.stop('SIGKILL'));
  const server = await startReusedServer(t, [
    '--data',
    temporaryFolder(t),
    '--metrics-port',
    '0',
    '--log-level',
    'info',
    '--redis-url',
    redis.url,
  ]);
  const metrics = /^Metrics: (\S+)$/m.exec(server.stdout())?.[1] ?? '';
  const noticed = async (limits: string) => {
    const startMs = performance.now();
    while ((await readiness(server)).limits !== limits) {
      assert.ok(performance.now() - startMs < NOTICED_MS, `${limits}: not in time`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const up = limits === 'shared' ? 1 : 0;
    assert.match(await (await fetch(metrics)).text(), new RegExp(`^urlwarden_redis_up ${up}$`, 'm'));
  };
  await noticed('shared');
  process.kill(redis.pid, 'SIGSTOP');
  await noticed('local');
  process.kill(redis.pid, 'SIGCONT');
  await noticed('shared');
  await redis.stop();
  await noticed('local');
  redis = await startRedis({ port: redis.port });
  await noticed('shared');
  assert.equal(await server.stop('SIGTERM'), 0);
  assert.equal(server.stderr().match(/Redis is down/g)?.length, 2, server.stderr());
});

test('with refuse, a Redis that hangs delays only the first queries, and is used again when it answers', async (t) => {
  const redis = await startRedis();
  t.after(() => redis.stop('SIGKILL'));
  const [a] = await startTwo(t, redis.url, 'refuse');
  const authorization = `Bearer ${await tokenOf(a.url, DEMO)}`;
  assert.equal((await query(a, authorization)).status, ACCEPTED);
  const timed = async () => {
    const startMs = performance.now();
    const response = await query(a, authorization);
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '1']);
    return performance.now() - startMs;
  };
  process.kill(redis.pid, 'SIGSTOP');
  const first = await Promise.all([timed(), timed(), timed()]);
  assert.ok(Math.max(...first) < 2_000, `${first} ms`);
  const later = [await timed(), await timed(), await timed()];
  assert.ok(Math.min(...later) < 250, `${later} ms`);
  assert.equal((await fetch(`${a.url}/readyz`)).status, 503);
  assert.equal((await fetch(`${a.url}/healthz`)).status, 200);
  process.kill(redis.pid, 'SIGCONT');
  await until(() => a.stderr().includes('Redis is back'));
  assert.equal((await query(a, authorization)).status, ACCEPTED);
  assert.equal((await fetch(`${a.url}/readyz`)).status, 200);
  assert.deepEqual(a.stderr().match(/Redis is \w+/g), ['Redis is down', 'Redis is back']);
});

test('a wrong Redis password is logged as an error without the password', async (t) => {
  const redis = await startRedis({ args: ['--requirepass', 'hunter2'] });
  t.after(() => redis.stop());
  const url = `redis://:hunter3@127.0.0.1:${redis.port}`;
  const server = await startReusedServer(t, ['--demo', '--data', temporaryFolder(t), '--redis-url', url]);
  await until(() => server.stderr().includes('Redis is down'));
  assert.match(server.stderr(), /WRONGPASS/);
  assert.doesNotMatch(server.stderr(), /hunter/);
});

/** Starts both on one data folder, so that they have the same accounts. */
async function startTwo(t: TestContext, redisUrl: string, whenDown: string): Promise<[RunningServer, RunningServer]> {
  const dataDir = temporaryFolder(t);
  const start = () =>
    startReusedServer(t, [
      '--demo',
      '--data',
      dataDir,
      '--metrics-port',
      '0',
      '--log-level',
      'info',
      '--redis-url',
      redisUrl,
      '--limits-when-redis-is-down',
      whenDown,
    ]);
  return [await start(), await start()];
}

function query(server: RunningServer, authorization: string): Promise<Response> {
  const body = JSON.stringify({ url: 'http://unknown.example/' });
  return fetch(`${server.url}/api/intel/v2/byobject/url/id`, { method: 'POST', body, headers: { authorization } });
}

async function queriesToday(server: RunningServer, authorization: string): Promise<number> {
  const response = await fetch(`${server.url}/api/intel/v1/limits`, { headers: { authorization } });
  return ((await response.json()) as { current: { qpd: number } }).current.qpd;
}

async function readiness(server: RunningServer): Promise<{ limits?: string }> {
  return (await (await fetch(`${server.url}/readyz?verbose`)).json()) as { limits?: string };
}
