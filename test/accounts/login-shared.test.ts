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
const TEST_CLOCK = { isTestClock: true };

test('failed logins counted by two nodes have the same result as in one process', async (t) => {
  const prefix = temporaryPrefix();
  const nodes = [await temporaryLink(t, { prefix }), await temporaryLink(t, { prefix })].map((link) =>
    createSharedLoginFailures(link, TEST_CLOCK),
  );
  const single = createLoginFailures();
  const random = seeded(7);
  let [nowMs, waits] = [T_MS, 0];
  for (let i = 0; i < 1_500; i++) {
    nowMs += Math.floor(random() ** 4 * 40_000);
    const address = `192.0.2.${Math.floor(random() * 3)}`;
    const origin = { address, pair: `${Math.floor(random() * 4)} ${address}`, isKnown: random() < 0.3 };
    const node = nodes[i % 2] as (typeof nodes)[number];
    const expected = single.waitMs(origin, nowMs);
    assert.equal(await node.waitMs(origin, nowMs), expected, `step ${i}`);
    if (expected > 0) waits++;
    const succeeds = random() < 0.03;
    for (const counted of [single, node]) await (succeeds ? counted.clearPair(origin) : counted.count(origin, nowMs));
  }
  assert.ok(waits > 100 && waits < 1_400, `${waits}`);
});

test('logins counted by two nodes have the same result as in one process', async (t) => {
  const prefix = temporaryPrefix();
  const nodes = [await temporaryLink(t, { prefix }), await temporaryLink(t, { prefix })].map((link) =>
    createSharedLoginPenalty(link, TEST_CLOCK),
  );
  const single = createLoginPenalty();
  const random = seeded(8);
  let [nowMs, refused] = [T_MS, 0];
  for (let i = 0; i < 1_000; i++) {
    nowMs += Math.floor(random() ** 4 * 60_000);
    const account = `account ${Math.floor(random() * 2)}`;
    const node = nodes[i % 2] as (typeof nodes)[number];
    assert.equal(await node.refusedMs(account, nowMs), single.refusedMs(account, nowMs), `step ${i}`);
    const expected = single.take(account, nowMs);
    assert.deepEqual(await node.take(account, nowMs), expected, `step ${i}`);
    if (expected.refusedMs > 0) refused++;
  }
  assert.ok(refused > 50 && refused < 950, `${refused}`);
});

test('with the clock of Redis, failures and logins on one node are immediately counted on another', async (t) => {
  const prefix = temporaryPrefix();
  const [a, b] = [await temporaryLink(t, { prefix }), await temporaryLink(t, { prefix })];
  const [failuresA, failuresB] = [createSharedLoginFailures(a), createSharedLoginFailures(b)];
  for (let i = 0; i < 10; i++) await failuresA.count(HERE, 0);
  const waitMs = await failuresB.waitMs(HERE, 0);
  assert.ok(waitMs > 30_000 && waitMs <= 60_000, `${waitMs}`);
  await failuresB.clearPair(HERE);
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
  // Without the random prefix, which may contain any letters.
  for (const key of keys) assert.ok(!key.slice(prefix.length).includes('ada'), key);
});

test('concurrent logins on several nodes are counted exactly', async (t) => {
  const prefix = temporaryPrefix();
  const nodes = [await temporaryLink(t, { prefix }), await temporaryLink(t, { prefix })].map((link) =>
    createSharedLoginPenalty(link),
  );
  const decisions = await Promise.all(Array.from({ length: 60 }, (_, i) => nodes[i % 2]?.take('ada', 0)));
  assert.equal(decisions.filter((decision) => decision?.refusedMs === 0).length, 29);
});

test('while Redis is down a node uses its own counts', async (t) => {
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
