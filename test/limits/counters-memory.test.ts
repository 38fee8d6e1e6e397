import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openControl } from '../../src/app/stores.ts';
import { policiesOf, windowIndex } from '../../src/core/quota.ts';
import { BUILT_IN_TIERS, limitsOf } from '../../src/core/tier.ts';
import { createMemoryCounters } from '../../src/limits/counters-memory.ts';
import type { Usage } from '../../src/limits/store.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { countersContract, countersOver } from './contract/counters.ts';

const SUB = '10000001';
const T = 1_794_700_000;
const [developer] = BUILT_IN_TIERS;
assert.ok(developer);
const policies = policiesOf({ ...limitsOf(developer), rlQps: 100, rlQpm: 100, rlQph: 100 });

countersContract(countersOver((_t, control, nowMs) => createMemoryCounters(control, { nowMs })));

test('day and month are there again after a restart, the rates begin anew', async (t) => {
  const control = await openedControl(t);
  const before = createMemoryCounters(control, { nowMs: () => T * 1000 });
  await before.take(SUB, policies, 7);
  await before.close();
  const after = createMemoryCounters(control, { nowMs: () => T * 1000 });
  t.after(() => after.close());
  assert.deepEqual((await after.read(SUB)).counts, { second: 0, minute: 0, hour: 0, day: 7, month: 7 });
});

test('the counts of yesterday belong to the month, not to today', async (t) => {
  const control = await openedControl(t);
  const yesterday = T - 86_400;
  const usage = { sub: SUB, day: windowIndex('day', yesterday), month: windowIndex('month', yesterday), count: 5 };
  await control.addUsage([usage]);
  const counters = createMemoryCounters(control, { nowMs: () => T * 1000 });
  t.after(() => counters.close());
  const { counts } = await counters.read(SUB);
  assert.deepEqual([counts.day, counts.month], [0, 5]);
});

test('a clock that was set back opens no window a second time', async (t) => {
  const control = await openedControl(t);
  let ts = T;
  const counters = createMemoryCounters(control, { nowMs: () => ts * 1000 });
  t.after(() => counters.close());
  await counters.take(SUB, policies, 4);
  ts = T - 5;
  assert.equal((await counters.take(SUB, policies, 1)).counts.second, 5);
});

test('counts that could not be written are kept and written later, once', async () => {
  const written: Usage[] = [];
  let isAway = true;
  const failures: unknown[] = [];
  const flaky = {
    usage: async () => ({ day: 0, month: 0 }),
    async addUsage(batch: readonly Usage[]) {
      if (isAway) throw new Error('away');
      written.push(...batch);
    },
  };
  const failed = Promise.withResolvers<void>();
  const counters = createMemoryCounters(flaky, {
    nowMs: () => T * 1000,
    flushMs: 1,
    onFlushFailed(error) {
      failures.push(error);
      failed.resolve();
    },
  });
  await counters.take(SUB, policies, 3);
  await failed.promise;
  await counters.take(SUB, policies, 2);
  isAway = false;
  await counters.close();
  assert.ok(failures.length > 0);
  assert.equal(
    written.reduce((sum, { count }) => sum + count, 0),
    5,
  );
});

test('counts are written every half second, one batch at a time, until the end', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const gates: PromiseWithResolvers<void>[] = [];
  const written: number[] = [];
  const slow = {
    usage: async () => ({ day: 0, month: 0 }),
    async addUsage(batch: readonly Usage[]) {
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      await gate.promise;
      written.push(...batch.map(({ count }) => count));
    },
  };
  const turn = () => new Promise(setImmediate);
  const counters = createMemoryCounters(slow, { nowMs: () => T * 1000 });
  await counters.take(SUB, policies, 3);
  t.mock.timers.tick(499);
  await turn();
  assert.equal(gates.length, 0);
  t.mock.timers.tick(1);
  await turn();
  assert.equal(gates.length, 1);
  await counters.take(SUB, policies, 2);
  t.mock.timers.tick(500);
  const closed = counters.close();
  await turn();
  assert.equal(gates.length, 1, 'the first batch is still under way');
  gates[0]?.resolve();
  await turn();
  gates[1]?.resolve();
  await closed;
  assert.deepEqual(written, [3, 2]);
});

test('an account whose usage cannot be read now is read again later', async (t) => {
  let isAway = true;
  const flaky = {
    async usage() {
      if (isAway) throw new Error('away');
      return { day: 1, month: 2 };
    },
    addUsage: async () => {},
  };
  const counters = createMemoryCounters(flaky, { nowMs: () => T * 1000 });
  t.after(() => counters.close());
  await assert.rejects(async () => counters.take(SUB, policies, 1), /away/);
  isAway = false;
  assert.equal((await counters.take(SUB, policies, 1)).counts.month, 3);
});

async function openedControl(t: TestContext) {
  const control = await openControl({ dataDir: temporaryFolder(t) });
  t.after(() => control.close());
  return control;
}
