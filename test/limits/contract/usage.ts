import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Usage } from '../../../src/limits/store.ts';
import type { OpenControl } from '../../app/control-contract.ts';
import { raisesVersion } from '../../app/control-records.ts';

const used = (sub: string, day: number, month: number, count: number): Usage => ({ sub, day, month, count });

export function controlUsageSuite(open: OpenControl): void {
  suite('usage', () => {
    test('counts are summed by account, day and month', async (t) => {
      const control = await open(t);
      assert.deepEqual(await control.usage('1', 20_000, 657), { day: 0, month: 0 });
      await control.addUsage([used('1', 20_000, 657, 3), used('1', 20_001, 657, 4), used('2', 20_000, 657, 50)]);
      await control.addUsage([used('1', 20_001, 657, 5)]);
      assert.deepEqual(await control.usage('1', 20_000, 657), { day: 3, month: 12 });
      assert.deepEqual(await control.usage('1', 20_001, 657), { day: 9, month: 12 });
      assert.deepEqual(await control.usage('1', 20_002, 658), { day: 0, month: 0 });
      assert.deepEqual(await control.usage('2', 20_000, 657), { day: 50, month: 50 });
    });

    test('a day and a month with the same number are separate', async (t) => {
      const control = await open(t);
      await control.addUsage([used('1', 5, 6, 1), used('1', 6, 7, 2)]);
      assert.deepEqual(await control.usage('1', 6, 6), { day: 2, month: 1 });
    });

    test('a batch may contain an account, a day and a month more than once', async (t) => {
      const control = await open(t);
      await control.addUsage([used('1', 1, 1, 2), used('1', 2, 1, 3), used('1', 2, 1, 4)]);
      assert.deepEqual(await control.usage('1', 2, 1), { day: 7, month: 9 });
      await control.addUsage([]);
    });

    test('a refund is subtracted, never below zero', async (t) => {
      const control = await open(t);
      await control.addUsage([used('1', 1, 1, 10)]);
      await control.addUsage([used('1', 1, 1, -4)]);
      assert.deepEqual(await control.usage('1', 1, 1), { day: 6, month: 6 });
      await control.addUsage([used('1', 1, 1, -100), used('2', 1, 1, -1)]);
      assert.deepEqual(await control.usage('1', 1, 1), { day: 0, month: 0 });
      await control.addUsage([used('2', 1, 1, 1)]);
      assert.deepEqual(await control.usage('2', 1, 1), { day: 1, month: 1 });
    });

    test('a batch is written completely or not at all', async (t) => {
      const control = await open(t);
      await assert.rejects(control.addUsage([used('1', 1, 1, 10), used('1', 1.5, 1, 10)]));
      assert.deepEqual(await control.usage('1', 1, 1), { day: 0, month: 0 });
    });

    test('a month that is not the sum of its days is found and set to it', async (t) => {
      const control = await open(t);
      assert.equal(await control.checkUsage(''), null);
      // Day 20,000 is in month 657. The count of the next day is added to another month.
      await control.addUsage([used('1', 20_000, 657, 3), used('1', 20_001, 600, 4), used('2', 20_000, 657, 5)]);
      const wrong = [
        { month: 600, count: 4, sum: 0 },
        { month: 657, count: 3, sum: 7 },
      ];
      const byMonth = <M extends { month: number }>(months: M[]) => months.sort((a, b) => a.month - b.month);
      const first = await control.checkUsage('');
      assert.deepEqual(first && { ...first, wrong: byMonth(first.wrong) }, { sub: '1', rows: 4, wrong });
      assert.deepEqual(await control.checkUsage('1'), { sub: '2', rows: 2, wrong: [] });
      assert.equal(await control.checkUsage('2'), null);
      assert.deepEqual(byMonth(await control.repairUsage('1')), wrong);
      assert.deepEqual(await control.repairUsage('1'), []);
      assert.deepEqual((await control.checkUsage(''))?.wrong, []);
      assert.deepEqual(await control.usage('1', 20_001, 657), { day: 4, month: 7 });
    });

    test('counts may exceed 32 bits', async (t) => {
      const control = await open(t);
      for (let i = 0; i < 3; i++) await control.addUsage([used('1', 1, 1, 2_147_483_647)]);
      assert.deepEqual(await control.usage('1', 1, 1), { day: 6_442_450_941, month: 6_442_450_941 });
    });

    test('counting does not raise the version', async (t) => {
      const control = await open(t);
      assert.equal(await raisesVersion(control, () => control.addUsage([used('1', 1, 1, 1)])), false);
    });
  });
}
