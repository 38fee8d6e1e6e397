import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Redis } from 'ioredis';
import { type Control, openControl } from '../../src/app/stores.ts';
import { type Policy, windowIndex } from '../../src/core/quota.ts';
import { redisServerUrl } from '../servers/urls.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { countersContract, countersOver } from './contract/counters.ts';
import { type ProcessCounters, type RedisOptions, redisCounters } from './process-counters.ts';
import { temporaryLink, temporaryPrefix, temporaryRedisCounters } from './temporary-redis-counters.ts';

const SUB = '10000001';
const T = 1_794_700_000;
const NEVER_MS = 2_147_483_647;
const monthly = (limit: number): Policy[] => [{ name: 'qmh', window: 'month', limit }];

countersContract(countersOver((t, control, nowMs) => temporaryRedisCounters(t, control, { nowMs })));

test('of 20,000 concurrent queries on three nodes with 1,000 left, exactly 1,000 are admitted', async (t) => {
  const { counters } = await nodes(t, 3);
  const policies = monthly(1_000);
  const taken = await Promise.all(
    Array.from({ length: 20_000 }, (_, i) => (counters[i % 3] as ProcessCounters).take(SUB, policies, 1)),
  );
  assert.equal(taken.filter(({ isAdmitted }) => isAdmitted).length, 1_000);
  for (const node of counters) assert.equal((await node.read(SUB)).counts.month, 1_000);
});

test('the counts of each node are written to the store once', async (t) => {
  const { counters, control } = await nodes(t, 3, { nowMs: () => T * 1000 });
  for (const [i, node] of counters.entries()) await node.take(SUB, monthly(100), 10 ** i);
  await counters[0]?.refund(SUB, 1, T);
  for (const node of counters) await node.close();
  const used = await control.usage(SUB, windowIndex('day', T), windowIndex('month', T));
  assert.deepEqual(used, { day: 110, month: 110 });
});

test('windows follow the clock of Redis', async (t) => {
  const { counters } = await nodes(t, 1);
  const redis = await plainClient(t);
  const before = Number((await redis.time())[0]);
  const { ts } = (await counters[0]?.take(SUB, monthly(10), 1)) ?? {};
  const after = Number((await redis.time())[0]);
  assert.ok(ts !== undefined && before <= ts && ts <= after, `${before} ≤ ${ts} ≤ ${after}`);
});

test('a clock that is set back does not reset a window', async (t) => {
  let ts = T;
  const { counters } = await nodes(t, 1, { nowMs: () => ts * 1000 });
  await counters[0]?.take(SUB, monthly(10), 4);
  ts = T - 60;
  const counts = (await counters[0]?.take(SUB, monthly(10), 1))?.counts;
  assert.deepEqual(counts, { second: 5, minute: 5, hour: 5, day: 5, month: 5 });
});

// 41 days are an odd number, because what was counted before is still to be written.
for (const [what, startTs, aheadSeconds, count] of [
  ['on the same day', T - 3_600, 3_600, 9],
  ['by a month', T, 41 * 86_400, 5],
] as const) {
  test(`after the clock was ahead ${what}, rates begin again, day and month have their own counts`, async (t) => {
    let ts: number = startTs;
    const { counters } = await nodes(t, 1, { nowMs: () => ts * 1000 });
    const take = async (weight = 1) => (await counters[0]?.take(SUB, monthly(20), weight))?.counts;
    await take(4);
    ts += aheadSeconds;
    await take(4);
    await counters[0]?.takeCall(SUB, 1);
    ts = startTs;
    assert.equal((await counters[0]?.takeCall(SUB, 1))?.isAdmitted, true);
    assert.deepEqual(await take(), { second: 1, minute: 1, hour: 1, day: count, month: count });
    ts += 1;
    assert.deepEqual(await take(), { second: 1, minute: 2, hour: 2, day: count + 1, month: count + 1 });
  });
}

test('months are calendar months', async (t) => {
  let ts = 0;
  const { counters } = await nodes(t, 1, { nowMs: () => ts * 1000 });
  const everyDay = Array.from({ length: 5 * 366 }, (_, i) => windowIndex('day', T) + i);
  const monthEnds = Array.from({ length: 12 * 110 }, (_, i) => Date.UTC(2032, i, 1) / 86_400_000);
  let [month, expected] = [0, 0];
  for (const day of [...everyDay, ...monthEnds.flatMap((first) => [first - 1, first])]) {
    ts = day * 86_400 + 43_200;
    expected = windowIndex('month', ts) === month ? expected + 1 : 1;
    month = windowIndex('month', ts);
    const counts = (await counters[0]?.take(SUB, monthly(1e9), 1))?.counts;
    assert.equal(counts?.month, expected, new Date(ts * 1000).toISOString());
  }
});

test('a Redis that lost its keys is filled from the store', async (t) => {
  const { counters, prefix } = await nodes(t, 2, { nowMs: () => T * 1000, flushMs: NEVER_MS });
  const [first, second] = counters as [ProcessCounters, ProcessCounters];
  await first.take(SUB, monthly(100), 7);
  const redis = await plainClient(t);
  assert.equal(await redis.del(`${prefix}:{${SUB}}:queries`), 1);
  // The node that finds the key missing writes its own counts before it reads the store.
  const { counts } = await first.take(SUB, monthly(100), 1);
  assert.deepEqual(counts, { second: 1, minute: 1, hour: 1, day: 8, month: 8 });
  assert.equal((await second.read(SUB)).counts.month, 8);
});

test('the keys of an account are in one slot, and expire', async (t) => {
  const { counters, prefix } = await nodes(t, 1, { nowMs: () => T * 1000 });
  await counters[0]?.take(SUB, monthly(10), 1);
  await counters[0]?.takeCall(SUB, 10);
  const redis = await plainClient(t);
  const keys = await redis.keys(`${prefix}:*`);
  assert.deepEqual(keys.sort(), [`${prefix}:{${SUB}}:calls`, `${prefix}:{${SUB}}:queries`]);
  for (const [key, lifeSeconds] of [
    ['calls', 60],
    ['queries', 32 * 86_400],
  ] as const) {
    const left = await redis.ttl(`${prefix}:{${SUB}}:${key}`);
    assert.ok(left > lifeSeconds - 30 && left <= lifeSeconds, `${key}: ${left}`);
  }
});

test('calls are counted per second, over all nodes', async (t) => {
  let ts = T;
  const { counters } = await nodes(t, 2, { nowMs: () => ts * 1000 });
  const [first, second] = counters as [ProcessCounters, ProcessCounters];
  await first.takeCall(SUB, 2);
  await second.takeCall(SUB, 2);
  const { isAdmitted, counts } = await first.takeCall(SUB, 2);
  assert.deepEqual([isAdmitted, counts.second, (await first.read(SUB)).counts.month], [false, 2, 0]);
  ts++;
  assert.equal((await second.takeCall(SUB, 2)).counts.second, 1);
});

test('the usage of an account is read again after a failed read', async (t) => {
  let isDown = true;
  const flaky = {
    async usage() {
      if (isDown) throw new Error('no database');
      return { day: 1, month: 2 };
    },
    addUsage: async () => {},
  };
  const counters = redisCounters(await temporaryLink(t), flaky, { whenDown: 'local' });
  t.after(() => counters.close());
  await assert.rejects(async () => counters.take(SUB, monthly(10), 1), /no database/);
  isDown = false;
  assert.equal((await counters.take(SUB, monthly(10), 1)).counts.month, 3);
});

/** Nodes with separate connections to the same Redis and the same store. */
async function nodes(t: TestContext, count: number, options: Partial<RedisOptions> = {}) {
  const prefix = temporaryPrefix();
  const control: Control = await openControl({ dataDir: temporaryFolder(t) });
  const counters: ProcessCounters[] = [];
  for (let i = 0; i < count; i++) {
    const link = await temporaryLink(t, { prefix });
    counters.push(redisCounters(link, control, { whenDown: 'refuse', ...options }));
  }
  t.after(async () => {
    for (const node of counters) await node.close();
    await control.close();
  });
  return { counters, control, prefix };
}

async function plainClient(t: TestContext): Promise<Redis> {
  const redis = new Redis(redisServerUrl());
  t.after(() => redis.disconnect());
  return redis;
}
