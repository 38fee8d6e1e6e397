import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { type Control, openControl } from '../../../src/app/stores.ts';
import type { Policy } from '../../../src/core/quota.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import type { ProcessCounters } from '../process-counters.ts';

/** Opens counters whose clock is set by `setNow`. */
export type OpenCounters = (
  t: TestContext,
) => Promise<{ counters: ProcessCounters; setNow(ts: number): Promise<void> }>;

/** ProcessCounters on an empty control store, with a clock that the test sets. Both are closed after the test. */
export function countersOver(
  create: (t: TestContext, control: Control, nowMs: () => number) => ProcessCounters | Promise<ProcessCounters>,
): OpenCounters {
  return async (t) => {
    let ts = 0;
    const control = await openControl({ dataDir: temporaryFolder(t) });
    const counters = await create(t, control, () => ts * 1000);
    t.after(async () => {
      await counters.close();
      await control.close();
    });
    return {
      counters,
      async setNow(now) {
        ts = now;
      },
    };
  };
}

const at = (text: string) => Date.parse(text) / 1000;
const T = at('2026-11-15T12:34:56Z');
const SUB = '10000001';
const limits = (second: number, minute = 1e9, hour = 1e9, month = 1e9): Policy[] => [
  { name: 'rl_qps', window: 'second', limit: second },
  { name: 'rl_qpm', window: 'minute', limit: minute },
  { name: 'rl_qph', window: 'hour', limit: hour },
  { name: 'qmh', window: 'month', limit: month },
];

/** Tests for every implementation of counters. */
export function countersContract(open: OpenCounters): void {
  suite('counters', () => {
    test('a query is added to every window with its whole weight', async (t) => {
      const { counters, setNow } = await open(t);
      await setNow(T);
      await counters.take(SUB, limits(10), 1);
      const { isAdmitted, counts, ts } = await counters.take(SUB, limits(10), 9);
      assert.deepEqual([isAdmitted, ts], [true, T]);
      assert.deepEqual(counts, { second: 10, minute: 10, hour: 10, day: 10, month: 10 });
      assert.deepEqual(await counters.read(SUB), { counts, ts: T });
    });

    test('accounts are counted separately', async (t) => {
      const { counters, setNow } = await open(t);
      await setNow(T);
      await counters.take(SUB, limits(10), 3);
      assert.equal((await counters.read('10000002')).counts.month, 0);
    });

    test('each limit alone refuses, and a refused query is not counted', async (t) => {
      for (const policies of [limits(2), limits(9, 2), limits(9, 9, 2), limits(9, 9, 9, 2)]) {
        const { counters, setNow } = await open(t);
        await setNow(T);
        const admitted = [];
        for (let i = 0; i < 4; i++) admitted.push((await counters.take(SUB, policies, 1)).isAdmitted);
        assert.deepEqual(admitted, [true, true, false, false]);
        assert.equal((await counters.read(SUB)).counts.month, 2);
      }
    });

    test('the last admitted query may exceed a limit by its weight minus one', async (t) => {
      const { counters, setNow } = await open(t);
      await setNow(T);
      await counters.take(SUB, limits(10), 9);
      const { isAdmitted, counts } = await counters.take(SUB, limits(10), 33);
      assert.deepEqual([isAdmitted, counts.second], [true, 42]);
      assert.equal((await counters.take(SUB, limits(10), 1)).isAdmitted, false);
    });

    test('each window restarts at its own boundary in UTC', async (t) => {
      const { counters, setNow } = await open(t);
      for (const [now, expect] of [
        ['2026-11-30T23:59:58Z', [1, 1, 1, 1, 1]],
        ['2026-11-30T23:59:58Z', [2, 2, 2, 2, 2]],
        ['2026-11-30T23:59:59Z', [1, 3, 3, 3, 3]],
        ['2026-12-01T00:00:00Z', [1, 1, 1, 1, 1]],
        ['2026-12-01T00:01:00Z', [1, 1, 2, 2, 2]],
        ['2026-12-01T01:00:00Z', [1, 1, 1, 3, 3]],
        ['2026-12-02T00:00:00Z', [1, 1, 1, 1, 4]],
      ] as const) {
        await setNow(at(now));
        const { counts } = await counters.take(SUB, limits(10), 1);
        assert.deepEqual([counts.second, counts.minute, counts.hour, counts.day, counts.month], expect, now);
      }
    });

    test('a refund is subtracted from day and month, not from the rates', async (t) => {
      const { counters, setNow } = await open(t);
      await setNow(T);
      const { ts } = await counters.take(SUB, limits(10), 9);
      await counters.refund(SUB, 9, ts);
      assert.deepEqual((await counters.read(SUB)).counts, { second: 9, minute: 9, hour: 9, day: 0, month: 0 });
    });

    test('a refund belongs to the day and the month of its query', async (t) => {
      const { counters, setNow } = await open(t);
      await setNow(at('2026-11-30T23:59:59Z'));
      const { ts } = await counters.take(SUB, limits(10), 5);
      await setNow(at('2026-12-01T00:00:00Z'));
      await counters.take(SUB, limits(10), 2);
      await counters.refund(SUB, 5, ts);
      assert.deepEqual((await counters.read(SUB)).counts, { second: 2, minute: 2, hour: 2, day: 2, month: 2 });
    });

    test('calls are counted in their second, apart from queries', async (t) => {
      const { counters, setNow } = await open(t);
      await setNow(T);
      const admitted = [];
      for (let i = 0; i < 3; i++) admitted.push((await counters.takeCall(SUB, 2)).isAdmitted);
      assert.deepEqual(admitted, [true, true, false]);
      assert.equal((await counters.read(SUB)).counts.second, 0);
      await setNow(T + 1);
      const { isAdmitted, counts } = await counters.takeCall(SUB, 2);
      assert.deepEqual([isAdmitted, counts.second], [true, 1]);
    });

    test('an account opens streams up to its maximum, and another one after it closed one', async (t) => {
      const { counters } = await open(t);
      const openStream = (sub: string) => counters.openStream(sub, 2);
      const [close, second] = [await openStream(SUB), await openStream(SUB)];
      assert.ok(close !== null && second !== null);
      assert.equal(await openStream(SUB), null);
      assert.notEqual(await openStream('10000002'), null);
      assert.equal(counters.countStreams(), 3);
      close();
      assert.equal(counters.countStreams(), 2);
      assert.notEqual(await openStream(SUB), null);
      assert.equal(await openStream(SUB), null);
    });

    test('of 3,000 concurrent queries with 1,000 left, exactly 1,000 are admitted', async (t) => {
      const { counters, setNow } = await open(t);
      await setNow(T);
      const policies = limits(1e9, 1e9, 1e9, 1_000);
      const taken = await Promise.all(Array.from({ length: 3_000 }, () => counters.take(SUB, policies, 1)));
      assert.equal(taken.filter(({ isAdmitted }) => isAdmitted).length, 1_000);
      assert.equal((await counters.read(SUB)).counts.month, 1_000);
    });
  });
}
