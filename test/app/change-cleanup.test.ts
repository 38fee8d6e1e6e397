import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startChangeCleanup } from '../../src/app/change-cleanup.ts';
import { temporaryControl } from '../temporary-control.ts';
import { until } from '../until.ts';

const DAY = 86_400;
const NOW = 1_794_800_000;

test('changes older than their days are deleted once a day, and not by a clock that is far ahead', async (t) => {
  const asked: [beforeTs: number, after: number][] = [];
  const chunks = [7, 9, null, null];
  let nowTs = NOW;
  let askAgain = () => {};
  const { runDue, close } = startChangeCleanup({
    store: {
      async removeOldChanges(beforeTs, after) {
        asked.push([beforeTs, after]);
        return chunks.shift() ?? null;
      },
    },
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
  await until(async () => asked.length === 4, 'the last run has deleted');
  const first = NOW - 30 * DAY;
  assert.deepEqual(asked, [
    [first, 0],
    [first, 7],
    [first, 9],
    [first + DAY, 0],
  ]);
});
