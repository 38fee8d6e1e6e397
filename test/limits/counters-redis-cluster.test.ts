import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { openControl } from '../../src/app/stores.ts';
import { parseRedisUrl, type RedisAddress } from '../../src/config/redis-url.ts';
import type { Policy } from '../../src/core/quota.ts';
import { createCounterDeletion } from '../../src/limits/counters-redis.ts';
import { createRedisClient } from '../../src/redis/client.ts';
import { type RedisCluster, startRedisCluster } from '../servers/redis-cluster.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { countersContract, countersOver } from './contract/counters.ts';
import { redisCounters } from './process-counters.ts';
import { temporaryLink, temporaryPrefix, untilDown, untilUp } from './temporary-redis-counters.ts';

const T = 1_794_700_000;
const SUBS = Array.from({ length: 30 }, (_, i) => `${10_000_001 + i}`);
const monthly = (limit: number): Policy[] => [{ name: 'qmh', window: 'month', limit }];

let cluster: RedisCluster;
before(async () => {
  cluster = await startRedisCluster();
});
after(() => cluster.stop());

countersContract(
  countersOver(async (t, control, nowMs) =>
    redisCounters(await temporaryLink(t, { url: cluster.url }), control, { whenDown: 'refuse', nowMs }),
  ),
);

test('a client that is closed while it reads the slots of its nodes leaves no timer', async (t) => {
  const client = createRedisClient(parseRedisUrl(cluster.url) as RedisAddress);
  t.after(() => client.disconnect());
  await client.connect();
  // Private: no event says when a refresh begins, and a timer does not say whose it is.
  const driver = client as unknown as { isRefreshing: boolean; slotsTimer: object | null | undefined };
  while (!driver.isRefreshing) await setImmediate();
  client.disconnect();
  await once(client, 'end');
  await until(() => !driver.isRefreshing, 'the refresh ends');
  assert.equal(driver.slotsTimer ?? null, null);
});

test('accounts are distributed over the nodes, and no month is lost when a node is killed and restarts empty', async (t) => {
  const control = await openControl({ dataDir: temporaryFolder(t) });
  const link = await temporaryLink(t, { url: cluster.url, probeMs: 50, prefix: temporaryPrefix() });
  const changes: string[] = [];
  link.watch({ onDown: () => changes.push('down'), onUp: () => changes.push('up') });
  const counters = redisCounters(link, control, { whenDown: 'local', nowMs: () => T * 1000 });
  t.after(async () => {
    await counters.close();
    await control.close();
  });
  const takeAll = async () => {
    const taken = [];
    for (const sub of SUBS) taken.push(await counters.take(sub, monthly(100), 1));
    return taken.map(({ counts }) => counts.month);
  };
  assert.deepEqual(
    await takeAll(),
    SUBS.map(() => 1),
  );
  await cluster.nodes[1]?.stop('SIGKILL');
  assert.deepEqual(
    await takeAll(),
    SUBS.map(() => 2),
  );
  assert.deepEqual(changes, ['down']);
  await cluster.startAgain(1);
  await untilUp(link);
  assert.deepEqual(
    await takeAll(),
    SUBS.map(() => 3),
  );
  assert.deepEqual(changes, ['down', 'up']);
});

test('the counters of an account are deleted on whichever node they are; while one is down, that is reported', async (t) => {
  const control = await openControl({ dataDir: temporaryFolder(t) });
  const link = await temporaryLink(t, { url: cluster.url, probeMs: 50 });
  const counters = redisCounters(link, control, { whenDown: 'refuse', nowMs: () => T * 1000 });
  t.after(async () => {
    await counters.close();
    await control.close();
  });
  const remove = createCounterDeletion(link);
  const exists = link.script<number>(`return redis.call('EXISTS', KEYS[1])`);
  for (const sub of SUBS) {
    await counters.take(sub, [], 1);
    await counters.takeCall(sub, 1);
    assert.equal(await remove(sub), true);
    for (const name of ['queries', 'calls']) assert.equal(await exists(link.key(sub, name)), 0);
  }
  await cluster.nodes[0]?.stop('SIGKILL');
  await untilDown(link);
  assert.equal(await remove(SUBS[0] ?? ''), false);
  await cluster.startAgain(0);
  await untilUp(link);
});

test('an idle link notices that one node is killed or does not respond, and that it is back', async (t) => {
  const link = await temporaryLink(t, { url: cluster.url, probeMs: 50 });
  const changes: string[] = [];
  link.watch({ onDown: () => changes.push('down'), onUp: () => changes.push('up') });
  await cluster.nodes[2]?.stop('SIGKILL');
  await untilDown(link);
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.deepEqual(changes, ['down'], 'it is down until all nodes are back');
  await cluster.startAgain(2);
  await untilUp(link);
  const pid = cluster.nodes[0]?.pid ?? 0;
  process.kill(pid, 'SIGSTOP');
  try {
    await untilDown(link);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await untilUp(link);
  assert.deepEqual(changes, ['down', 'up', 'down', 'up']);
});
