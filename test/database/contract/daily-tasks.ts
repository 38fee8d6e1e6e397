import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { OpenControl } from '../../app/control-contract.ts';

export function controlDailyTasksSuite(open: OpenControl): void {
  suite('daily tasks', () => {
    test('a task starts once in 24 hours, and after a clock that was ahead', async (t) => {
      const control = await open(t);
      const starts = [];
      for (const ts of [1_000_000, 1_000_000, 1_086_399, 1_086_400, 1_086_401, 500, 501]) {
        starts.push(await control.startDailyTask('usage_cleanup', ts));
      }
      assert.deepEqual(starts, [true, false, false, true, false, true, false]);
      assert.equal(await control.startDailyTask('change_cleanup', 501), true, 'each task by itself');
    });

    test('a clock that is far ahead does not start a task, and does not put off that of a right clock', async (t) => {
      const control = await open(t);
      const start = (ts: number) => control.startDailyTask('usage_cleanup', ts);
      const [day, year] = [86_400, 365 * 86_400];
      assert.equal(await start(day), true);
      assert.deepEqual([await start(year), await start(year + day - 1)], [false, false]);
      assert.equal(await start(2 * day), true, 'the right clock');
      assert.deepEqual([await start(5 * day), await start(6 * day)], [false, true], 'the server was off');
    });
  });
}
