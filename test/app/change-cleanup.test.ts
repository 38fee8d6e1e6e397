import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startChangeCleanup } from '../../src/app/change-cleanup.ts';
import { temporaryControl } from '../temporary-control.ts';
import { until } from '../until.ts';

const DAY = 86_400;
const NOW = 1_794_800_000;

test('changes older than their days are deleted once a day, and not by a clock that is far ahead', async (t) => {
  const asked: number[] = [];
  let nowTs = NOW;
  let askAgain = () => {};
  const { runDue, close } = startChangeCleanup({
    store: { removeOldChanges: async (beforeTs) => asked.push(beforeTs) && 0 },
    control: await temporaryControl(t),
    changeDays: 30,
    now: () => nowTs,
    every: (_ms, work) => {
      askAgain = work;
      return () => {};
    },
    onFailure: (error) => assert.fail(String(error)),
  });
  t.after(close);
  for (nowTs of [NOW, NOW + DAY - 1, NOW + 365 * DAY]) await runDue();
  nowTs = NOW + DAY;
  askAgain();
  await until(async () => asked.length === 2, 'the last run has deleted');
  assert.deepEqual(asked, [NOW - 30 * DAY, NOW - 29 * DAY]);
});
