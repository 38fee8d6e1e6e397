import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Usage } from '../../../src/limits/store.ts';
import { usageReport } from '../../../src/limits/usage-report.ts';
import type { OpenControl } from '../../app/control-contract.ts';
import { ADA, BOB, GOLD, raisesVersion } from '../../app/control-records.ts';

const used = (sub: string, day: number, month: number, count: number): Usage => ({ sub, day, month, count });

/** The results of all calls before the first that returns 0. */
async function untilNothing(work: () => Promise<number>): Promise<number[]> {
  const results: number[] = [];
  for (let result = await work(); result > 0; result = await work()) results.push(result);
  return results;
}

async function pagesOf<Page>(stream: AsyncIterable<Page>): Promise<Page[]> {
  const pages: Page[] = [];
  for await (const page of stream) pages.push(page);
  return pages;
}

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

    test('the usage of a month is read in pages by account, with its days in order', async (t) => {
      const control = await open(t);
      const subs = Array.from({ length: 600 }, (_, i) => `${10_000_001 + i}`);
      // Month 681 has the days 20,727 to 20,757.
      await control.addUsage(
        subs.flatMap((sub) => [
          used(sub, 20_757, 681, 3),
          used(sub, 20_727, 681, 2),
          used(sub, 20_726, 680, 9),
          used(sub, 20_758, 682, 9),
        ]),
      );
      await control.addUsage([used('1', 20_726, 680, 1), used('2', 20_730, 681, 1), used('2', 20_730, 681, -1)]);
      const pages = await pagesOf(control.monthUsage(681));
      assert.ok(pages.length >= 3 && pages.every((page) => page.length <= 250));
      const days = [
        { day: 20_727, count: 2 },
        { day: 20_757, count: 3 },
      ];
      assert.deepEqual(pages.flat(), [...subs.map((sub) => ({ sub, days })), { sub: '2', days: [] }]);
      assert.deepEqual(await pagesOf(control.monthUsage(683)), []);
    });

    test('a month is marked as reported once', async (t) => {
      const control = await open(t);
      assert.equal(await control.reportedTs(681), null);
      await control.markReported(681, 5);
      await control.markReported(681, 6);
      assert.deepEqual([await control.reportedTs(681), await control.reportedTs(680)], [5, null]);
    });

    test('usage before a month is deleted in batches, days together with their month', async (t) => {
      const control = await open(t);
      const subs = Array.from({ length: 50 }, (_, i) => `${10_000_001 + i}`);
      await control.addUsage(
        subs.flatMap((sub) => [
          used(sub, 20_600, 676, 1),
          used(sub, 20_726, 680, 2),
          used(sub, 20_727, 681, 3),
          used(sub, 20_757, 681, 4),
        ]),
      );
      const before = { month: 681, removedTs: 0 };
      const [first, ...others] = await untilNothing(() => control.deleteOldUsage(before));
      assert.ok(first !== undefined && first > 0 && first < 200, `${first}`);
      assert.equal(first + others.reduce((sum, rows) => sum + rows, 0), 50 * 4);
      for (const sub of subs) {
        assert.deepEqual(await control.usage(sub, 20_726, 680), { day: 0, month: 0 });
        assert.deepEqual(await control.usage(sub, 20_757, 681), { day: 4, month: 7 });
      }
      for (let next = await control.checkUsage(''); next !== null; next = await control.checkUsage(next.sub)) {
        assert.deepEqual([next.rows, next.wrong], [3, []]);
      }
    });

    test('of removed accounts, reported months are deleted; of others, nothing', async (t) => {
      const control = await open(t);
      await control.addAccount(ADA);
      await control.addAccount(BOB);
      await control.addUsage(
        [ADA.sub, BOB.sub].flatMap((sub) => [
          used(sub, 20_726, 680, 1),
          used(sub, 20_727, 681, 2),
          used(sub, 20_757, 681, 3),
          used(sub, 20_758, 682, 4),
        ]),
      );
      const before = { month: 600, removedTs: 100 };
      await control.markReported(681, 5);
      assert.equal(await control.deleteOldUsage(before), 0);
      await control.removeAccount(ADA.sub, 50);
      assert.deepEqual(await untilNothing(() => control.deleteOldUsage(before)), [3]);
      assert.deepEqual(await control.usage(ADA.sub, 20_726, 680), { day: 1, month: 1 });
      assert.deepEqual(await control.usage(ADA.sub, 20_727, 681), { day: 0, month: 0 });
      assert.deepEqual(await control.usage(ADA.sub, 20_758, 682), { day: 4, month: 4 });
      assert.deepEqual(await control.usage(BOB.sub, 20_727, 681), { day: 2, month: 5 });
      assert.equal((await control.removedAccounts()).length, 1, 'it still has usage');
      await control.markReported(680, 6);
      await control.markReported(682, 6);
      assert.deepEqual(await untilNothing(() => control.deleteOldUsage({ ...before, removedTs: 50 })), [4]);
      assert.equal((await control.removedAccounts()).length, 1, 'it was removed too recently');
      await control.deleteOldUsage(before);
      assert.deepEqual(await control.removedAccounts(), []);
      await control.deleteOldUsage({ month: 681, removedTs: 0 });
      assert.deepEqual([await control.reportedTs(680), await control.reportedTs(681)], [null, 5]);
    });

    test('a report has the limits of each account and whether they were reached', async (t) => {
      const control = await open(t);
      await control.putTier({ ...GOLD, qms: 10, qmh: 20 });
      const names = ['above', 'at-hard', 'at-soft', 'between', 'removed', 'zero'] as const;
      const counts = { above: 21, 'at-hard': 20, 'at-soft': 10, between: 11, removed: 30, zero: 0 };
      for (const [i, name] of names.entries()) {
        await control.addAccount({ ...ADA, sub: `${90_000_000 - i}`, username: name, usernameKey: name, tier: 'gold' });
        await control.addUsage([
          used(`${90_000_000 - i}`, 20_727, 681, counts[name] - 5),
          used(`${90_000_000 - i}`, 20_728, 681, 5),
        ]);
      }
      await control.addUsage([used('89999995', 20_728, 681, -5), used('5', 20_729, 681, 1)]);
      await control.removeAccount('89999996', 44);
      await control.putTier({ ...GOLD, qms: 11, qmh: 20 });
      await control.markReported(681, 99);
      const octoberEndTs = 20_758 * 86_400;
      const report = await usageReport(control, 681, octoberEndTs);
      assert.deepEqual([report.month, report.isComplete, report.reportedTs, report.queries], ['2026-10', true, 99, 93]);
      assert.deepEqual(
        report.accounts.map((one) => [
          one.username,
          one.sub,
          one.queries,
          one.limits?.qms,
          one.isSoftLimitPassed,
          one.isHardLimitReached,
          one.removedTs,
          one.tier,
        ]),
        [
          ['above', '90000000', 21, 11, true, true, null, 'gold'],
          ['at-hard', '89999999', 20, 11, true, true, null, 'gold'],
          ['at-soft', '89999998', 10, 11, false, false, null, 'gold'],
          ['between', '89999997', 11, 11, false, false, null, 'gold'],
          [null, '5', 1, undefined, false, false, null, null],
          [null, '89999996', 30, 10, true, true, 44, 'gold'],
        ],
      );
      assert.deepEqual(report.accounts[0]?.days, [
        { day: '2026-10-01', queries: 16 },
        { day: '2026-10-02', queries: 5 },
      ]);
      assert.equal((await usageReport(control, 681, octoberEndTs - 1)).isComplete, false);
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
