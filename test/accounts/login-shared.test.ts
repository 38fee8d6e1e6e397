import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { createLoginFailures } from '../../src/accounts/login-failures.ts';
import { createLoginPenalty } from '../../src/accounts/login-penalty.ts';
import { createSharedLoginFailures, createSharedLoginPenalty } from '../../src/accounts/login-shared.ts';
import { temporaryLink, temporaryPrefix } from '../limits/temporary-redis-counters.ts';
import { freePort } from '../servers/child.ts';
import { redisServerUrl } from '../servers/urls.ts';

const HERE = { address: '192.0.2.1', pair: 'ada here', isKnown: false };
const T_MS = 1_800_000_000_000;
const OF_THE_TEST = { isTestClock: true };

test('failed logins: two nodes together say what one process would', async (t) => {
  const prefix = temporaryPrefix();
  const nodes = [await temporaryLink(t, { prefix }), await temporaryLink(t, { prefix })].map((link) =>
    createSharedLoginFailures(link, OF_THE_TEST),
  );
  const alone = createLoginFailures();
  const random = seeded(7);
  let [nowMs, waits] = [T_MS, 0];
  for (let i = 0; i < 1_500; i++) {
    nowMs += Math.floor(random() ** 4 * 40_000);
    const address = `192.0.2.${Math.floor(random() * 3)}`;
    const origin = { address, pair: `${Math.floor(random() * 4)} ${address}`, isKnown: random() < 0.3 };
    const node = nodes[i % 2] as (typeof nodes)[number];
    const expected = alone.waitMs(origin, nowMs);
    assert.equal(await node.waitMs(origin, nowMs), expected, `step ${i}`);
    if (expected > 0) waits++;
    const isGood = random() < 0.03;
    for (const one of [alone, node]) await (isGood ? one.forgive(origin) : one.count(origin, nowMs));
  }
  assert.ok(waits > 100 && waits < 1_400, `${waits}`);
});

test('logins: two nodes together say what one process would', async (t) => {
  const prefix = temporaryPrefix();
  const nodes = [await temporaryLink(t, { prefix }), await temporaryLink(t, { prefix })].map((link) =>
    createSharedLoginPenalty(link, OF_THE_TEST),
  );
  const alone = createLoginPenalty();
  const random = seeded(8);
  let [nowMs, refused] = [T_MS, 0];
  for (let i = 0; i < 1_000; i++) {
    nowMs += Math.floor(random() ** 4 * 60_000);
    const account = `account ${Math.floor(random() * 2)}`;
    const node = nodes[i % 2] as (typeof nodes)[number];
    assert.equal(await node.refusedMs(account, nowMs), alone.refusedMs(account, nowMs), `step ${i}`);
    const expected = alone.take(account, nowMs);
    assert.deepEqual(await node.take(account, nowMs), expected, `step ${i}`);
    if (expected.refusedMs > 0) refused++;
  }
  assert.ok(refused > 50 && refused < 950, `${refused}`);
});

test("by Redis's own clock a node hears at once of failures and logins at another", async (t) => {
  const prefix = temporaryPrefix();
  const [a, b] = [await temporaryLink(t, { prefix }), await temporaryLink(t, { prefix })];
  const [failuresA, failuresB] = [createSharedLoginFailures(a), createSharedLoginFailures(b)];
  for (let i = 0; i < 10; i++) await failuresA.count(HERE, 0);
  const waitMs = await failuresB.waitMs(HERE, 0);
  assert.ok(waitMs > 30_000 && waitMs <= 60_000, `${waitMs}`);
  await failuresB.forgive(HERE);
  assert.equal(await failuresA.waitMs(HERE, 0), 0);

  const [penaltyA, penaltyB] = [createSharedLoginPenalty(a), createSharedLoginPenalty(b)];
  for (let i = 0; i < 29; i++) await (i % 2 === 0 ? penaltyA : penaltyB).take('ada', 0);
  const { refusedMs } = await penaltyA.take('ada', 0);
  assert.ok(refusedMs > 500_000 && refusedMs <= 600_000, `${refusedMs}`);

  const redis = new Redis(redisServerUrl());
  t.after(() => redis.disconnect());
  const keys = await redis.keys(`${prefix}:*`);
  assert.equal(keys.length, 2);
  for (const key of keys) assert.ok((await redis.pttl(key)) > 0, `${key} expires`);
  // The prefix is random and may spell anything.
  for (const key of keys) assert.ok(!key.slice(prefix.length).includes('ada'), key);
});

test('logins at the same time on several nodes are counted one by one', async (t) => {
  const prefix = temporaryPrefix();
  const nodes = [await temporaryLink(t, { prefix }), await temporaryLink(t, { prefix })].map((link) =>
    createSharedLoginPenalty(link),
  );
  const turns = await Promise.all(Array.from({ length: 60 }, (_, i) => nodes[i % 2]?.take('ada', 0)));
  assert.equal(turns.filter((turn) => turn?.refusedMs === 0).length, 29);
});

test('while Redis is away a node goes by what it has seen itself', async (t) => {
  const link = await temporaryLink(t, { url: `redis://127.0.0.1:${await freePort()}` });
  const [failures, penalty] = [createSharedLoginFailures(link), createSharedLoginPenalty(link)];
  for (let i = 0; i < 10; i++) await failures.count(HERE, T_MS);
  assert.equal(await failures.waitMs(HERE, T_MS), 60_000);
  for (let i = 0; i < 29; i++) await penalty.take('ada', T_MS);
  assert.deepEqual(await penalty.take('ada', T_MS), { refusedMs: 600_000, delayMs: 0 });
  assert.equal(await penalty.refusedMs('ada', T_MS), 600_000);
});

/** mulberry32: the same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
