import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import { openControl } from '../../src/app/stores.ts';
import { startRedis } from '../servers/redis.ts';
import { type Sentinels, startSentinels } from '../servers/redis-sentinel.ts';
import { startSentinelStub } from '../servers/sentinel-stub.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { countersContract, countersOver } from './contract/counters.ts';
import { redisCounters } from './process-counters.ts';
import { temporaryLink, untilDown, untilUp } from './temporary-redis-counters.ts';

const SUB = '10000001';
const T = 1_794_700_000;

let servers: Sentinels;
before(async () => {
  servers = await startSentinels();
});
after(() => servers.stop());

countersContract(
  countersOver(async (t, control, nowMs) =>
    redisCounters(await temporaryLink(t, { url: servers.url }), control, { whenDown: 'refuse', nowMs }),
  ),
);

test('when the primary is killed, the replica takes over and counting continues', async (t) => {
  const control = await openControl({ dataDir: temporaryFolder(t) });
  const link = await temporaryLink(t, { url: servers.url, probeMs: 20 });
  const changes: string[] = [];
  link.watch({ onDown: () => changes.push('down'), onUp: () => changes.push('up') });
  const idle = await temporaryLink(t, { url: servers.url, probeMs: 20 });
  const counters = redisCounters(link, control, { whenDown: 'local', nowMs: () => T * 1000 });
  t.after(async () => {
    await counters.close();
    await control.close();
  });
  await counters.take(SUB, [], 10);
  await servers.primary.stop('SIGKILL');
  assert.equal((await counters.take(SUB, [], 5)).counts.month, 15);
  await untilDown(idle);
  for (const one of [link, idle]) await untilUp(one);
  assert.equal((await counters.take(SUB, [], 1)).counts.month, 16);
  // On a busy machine the new primary may miss a probe later.
  assert.deepEqual(changes.slice(0, 2), ['down', 'up']);
});

async function dropConnections(port: number): Promise<void> {
  const redis = new Redis({ port });
  await redis.call('client', 'kill', 'type', 'normal', 'skipme', 'yes');
  redis.disconnect();
}

test('the link recovers when a sentinel announces a new primary while it is queried for the primary', async (t) => {
  const redis = await startRedis();
  t.after(() => redis.stop('SIGKILL'));
  const sentinel = await startSentinelStub(t, redis.port);
  const url = `redis+sentinel://127.0.0.1:${sentinel.port}/counters`;
  const link = await temporaryLink(t, { url, probeMs: 20 });
  const count = link.script<number>("return redis.call('incr', KEYS[1])");
  const key = link.key('tag', 'count');
  assert.equal(await count(key), 1);

  sentinel.holdReplies();
  await dropConnections(redis.port);
  await sentinel.untilQueried();
  sentinel.announceFailover();
  assert.equal(await count(key), null);
  sentinel.release();
  await untilUp(link);
  assert.equal(await count(key), 2);
});
