import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alternate, type Figure, isReached, median } from '../../../tools/bench/harness/figure.ts';
import { tableOf } from '../../../tools/bench/harness/table.ts';

const FIGURE: Figure = { name: 'a', unit: '/s', ours: [75, 90, 60], yardstick: [100, 100, 100], mark: null };

test('the median of an odd and an even number of values', () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
});

test('a mark is compared with the median of the ratios per round, or of our own figures', () => {
  const reached = (mark: Figure['mark']) => isReached({ ...FIGURE, mark });
  assert.equal(reached({ of: 'ratio', atLeast: 0.75 }), true);
  assert.equal(reached({ of: 'ratio', atLeast: 0.76 }), false);
  assert.equal(reached({ of: 'ours', atMost: 74 }), false);
  assert.equal(reached({ of: 'ours', atMost: 75 }), true);
  assert.equal(reached(null), null);
});

test('yardstick and ours are measured alternately', async () => {
  const order: string[] = [];
  const record = (name: string) => async () => order.push(name);
  await alternate(2, record('yardstick'), record('ours'));
  assert.deepEqual(order, ['yardstick', 'ours', 'yardstick', 'ours']);
});

test('the table shows median, spread, mark and rows that cannot be measured', () => {
  const table = tableOf([
    { ...FIGURE, mark: { of: 'ratio', atLeast: 0.8 } },
    { name: 'b', missing: 'no crowdsec' },
  ]);
  assert.match(table, /\| a +\| 75 \/s +\| 100 \/s +\| 0\.75 \(0\.60–0\.90\) \| ≥ 0\.8 +\| MISSED/);
  assert.match(table, /\| b +\| MISSING .* no crowdsec/);
});
