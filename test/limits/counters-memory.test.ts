import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openControl } from '../../src/app/stores.ts';
import { policiesOf, windowIndex } from '../../src/core/quota.ts';
import { BUILT_IN_TIERS, limitsOf } from '../../src/core/tier.ts';
import type { Reading, Usage } from '../../src/limits/store.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { countersContract, countersOver } from './contract/counters.ts';
import { memoryCounters } from './process-counters.ts';

const SUB = '10000001';
const T = 1_794_700_000;
const [developer] = BUILT_IN_TIERS;
assert.ok(developer);
const policies = policiesOf({ ...limitsOf(developer), rlQps: 100, rlQpm: 100, rlQph: 100 });

countersContract(countersOver((_t, control, nowMs) => memoryCounters(control, { nowMs })));

test('day and month survive a restart, the rates start at zero', async (t) => {
  const control = await temporaryControl(t);
  const before = memoryCounters(control, { nowMs: () => T * 1000 });
  await before.take(SUB, policies, 7);
  await before.close();
  const after = memoryCounters(control, { nowMs: () => T * 1000 });
  t.after(() => after.close());
  assert.deepEqual((await after.read(SUB)).counts, { second: 0, minute: 0, hour: 0, day: 7, month: 7 });
});

test('the counts of yesterday count for the month, not for today', async (t) => {
  const control = await temporaryControl(t);
  const yesterday = T - 86_400;
  const usage = { sub: SUB, day: windowIndex('day', yesterday), month: windowIndex('month', yesterday), count: 5 };
  await control.addUsage([usage]);
  const counters = memoryCounters(control, { nowMs: () => T * 1000 });
  t.after(() => counters.close());
  const { counts } = await counters.read(SUB);
  assert.deepEqual([counts.day, counts.month], [0, 5]);
});

test('a clock that is set back does not reset a window', async (t) => {
  const control = await temporaryControl(t);
  let ts = T;
  const counters = memoryCounters(control, { nowMs: () => ts * 1000 });
  t.after(() => counters.close());
  await counters.take(SUB, policies, 4);
  ts = T - 5;
  assert.equal((await counters.take(SUB, policies, 1)).counts.second, 5);
});

// T is a quarter of an hour before midnight. What was counted before 41 days is still to be written: an odd number of days.
for (const [what, startTs, aheadSeconds, day, month] of [
  ['on the same day', T - 3_600, 3_600, 9, 9],
  ['by a day', T, 3_600, 5, 9],
  ['by a month', T, 41 * 86_400, 5, 5],
] as const) {
  test(`after the clock was ahead ${what}, rates begin again, day and month have their own counts`, async (t) => {
    let ts: number = startTs;
    const counters = memoryCounters(await temporaryControl(t), { nowMs: () => ts * 1000 });
    t.after(() => counters.close());
    await counters.take(SUB, policies, 4);
    ts += aheadSeconds;
    await counters.take(SUB, policies, 4);
    await counters.takeCall(SUB, 1);
    ts -= aheadSeconds;
    const admissions = await Promise.all([counters.take(SUB, policies, 1), counters.take(SUB, policies, 1)]);
    assert.deepEqual(
      admissions.map(({ counts }) => counts),
      [
        { second: 1, minute: 1, hour: 1, day, month },
        { second: 2, minute: 2, hour: 2, day: day + 1, month: month + 1 },
      ],
    );
    assert.equal((await counters.takeCall(SUB, 1)).isAdmitted, true);
    ts += 1;
    assert.equal((await counters.take(SUB, policies, 1)).counts.second, 1);
    ts += 41 * 86_400;
    assert.equal((await counters.read(SUB)).counts.month, 0, 'the next month begins');
  });
}

test('counts that cannot be written are kept and written later, once', async () => {
  const written: Usage[] = [];
  let isDown = true;
  const failures: unknown[] = [];
  const flaky = {
    usage: async () => ({ day: 0, month: 0 }),
    async addUsage(batch: readonly Usage[]) {
      if (isDown) throw new Error('no database');
      written.push(...batch);
    },
  };
  const failed = Promise.withResolvers<void>();
  const counters = memoryCounters(flaky, {
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
  isDown = false;
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
  const nextIteration = () => new Promise(setImmediate);
  const counters = memoryCounters(slow, { nowMs: () => T * 1000 });
  await counters.take(SUB, policies, 3);
  t.mock.timers.tick(499);
  await nextIteration();
  assert.equal(gates.length, 0);
  t.mock.timers.tick(1);
  await nextIteration();
  assert.equal(gates.length, 1);
  await counters.take(SUB, policies, 2);
  t.mock.timers.tick(500);
  const closed = counters.close();
  await nextIteration();
  assert.equal(gates.length, 1, 'the first batch is still being written');
  gates[0]?.resolve();
  await nextIteration();
  gates[1]?.resolve();
  await closed;
  assert.deepEqual(written, [3, 2]);
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
  const counters = memoryCounters(flaky, { nowMs: () => T * 1000 });
  t.after(() => counters.close());
  await assert.rejects(async () => counters.take(SUB, policies, 1), /no database/);
  isDown = false;
  assert.equal((await counters.take(SUB, policies, 1)).counts.month, 3);
});

/** Counters with a store that has `used`, and a clock that a test sets. */
function countersAt(t: TestContext, used = { day: 0, month: 0 }, newestReading?: () => Reading | null) {
  const clock = { ms: T * 1000 };
  const written: Usage[] = [];
  const store = {
    usage: async () => used,
    addUsage: async (batch: readonly Usage[]) => void written.push(...batch),
  };
  const counters = memoryCounters(store, { nowMs: () => clock.ms, ...(newestReading && { newestReading }) });
  t.after(() => counters.close());
  return { clock, written, counters };
}

test('calls are counted by the second and by account, up to their limit', async (t) => {
  const { clock, counters } = countersAt(t);
  const call = async (sub: string) => {
    const { isAdmitted, counts, ts } = await counters.takeCall(sub, 2);
    assert.deepEqual(counts, { second: counts.second, minute: 0, hour: 0, day: 0, month: 0 });
    return [isAdmitted, counts.second, ts];
  };
  assert.deepEqual(await call('a'), [true, 1, T]);
  clock.ms += 999;
  assert.deepEqual(await call('a'), [true, 2, T]);
  assert.deepEqual(await call('a'), [false, 2, T]);
  assert.deepEqual(await call('b'), [true, 1, T]);
  clock.ms = (T - 1) * 1000;
  assert.deepEqual(await call('a'), [false, 2, T - 1], 'the clock was set back');
  clock.ms = (T + 1) * 1000;
  assert.deepEqual(await call('a'), [true, 1, T + 1]);
});

test('a loaded account is counted synchronously', async (t) => {
  const { counters } = countersAt(t);
  await counters.take(SUB, policies, 1);
  assert.ok(!(counters.take(SUB, policies, 1) instanceof Promise));
});

test('a window that has ended is read as empty', async (t) => {
  const { clock, counters } = countersAt(t);
  await counters.take(SUB, policies, 4);
  clock.ms += 1_000;
  const { counts, ts } = await counters.read(SUB);
  assert.deepEqual([counts.second, counts.hour, ts], [0, 4, T + 1]);
});

test('a refund is subtracted from the day and the month, also in the store', async (t) => {
  const { written, counters } = countersAt(t);
  await counters.take(SUB, policies, 7);
  await counters.refund(SUB, 3, T);
  const { counts } = await counters.read(SUB);
  assert.deepEqual([counts.second, counts.day, counts.month], [7, 4, 4]);
  await counters.close();
  assert.equal(
    written.reduce((sum, { count }) => sum + count, 0),
    4,
  );
});

test('a refund while the store cannot be read is written when the store is back', async () => {
  const written: Usage[] = [];
  const store = {
    usage: () => Promise.reject(new Error('no database')),
    addUsage: async (batch: readonly Usage[]) => void written.push(...batch),
  };
  const counters = memoryCounters(store, { nowMs: () => T * 1000 });
  await counters.refund(SUB, 3, T);
  await counters.close();
  assert.deepEqual(
    written.map(({ count }) => count),
    [-3],
  );
});

for (const { name, readTs, counts } of [
  { name: 'of this second', readTs: T, counts: [5, 9, 9] },
  { name: 'of this day', readTs: T - 1, counts: [0, 9, 9] },
  { name: 'of last year', readTs: T - 366 * 86_400, counts: [0, 6, 9] },
]) {
  test(`the greater count is used: of the store, or of a reading ${name}`, async (t) => {
    const reading = { counts: { second: 5, minute: 5, hour: 5, day: 9, month: 8 }, ts: readTs };
    const { counters } = countersAt(t, { day: 6, month: 9 }, () => reading);
    const { second, day, month } = (await counters.read(SUB)).counts;
    assert.deepEqual([second, day, month], counts);
  });
}

async function temporaryControl(t: TestContext) {
  const control = await openControl({ dataDir: temporaryFolder(t) });
  t.after(() => control.close());
  return control;
}
