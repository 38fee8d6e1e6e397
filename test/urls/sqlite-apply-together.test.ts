import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PackedBatch } from '../../src/urls/sqlite/apply.ts';
import { createApplyTogether } from '../../src/urls/sqlite/apply-together.ts';
import { NOTHING_APPLIED } from '../../src/urls/store.ts';
import { seen } from './contract/observations.ts';

const observed = (number: number) => [seen({ ts: number, url: 'http://a.example/', status: 'online' })];
const numberOf = ({ packed }: PackedBatch) => packed.values[6] as number;

/** A writer whose calls end when the test says so. `numbers`: the batches of each call. */
function fakeWriter() {
  const calls: { numbers: number[]; end(applied: number): void; fail(error: Error): void }[] = [];
  const { apply } = createApplyTogether((batches) => {
    const { promise, resolve, reject } = Promise.withResolvers<(typeof NOTHING_APPLIED)[]>();
    const numbers = batches.map(numberOf);
    const reportsOf = (count: number) => numbers.slice(0, count).map((n) => ({ ...NOTHING_APPLIED, urlsAdded: n }));
    calls.push({ numbers, end: (applied) => resolve(reportsOf(applied)), fail: reject });
    return promise;
  });
  return { calls, apply: async (number: number) => (await apply(observed(number))).urlsAdded };
}

const settled = () => new Promise(setImmediate);
const batchesOf = (calls: { numbers: number[] }[]) => calls.map(({ numbers }) => numbers);

test('batches that wait for the writer are applied together, in their order', async () => {
  const { calls, apply } = fakeWriter();
  const all = [1, 2, 3, 4, 5, 6, 7].map(apply);
  await settled();
  assert.deepEqual(batchesOf(calls), [[1], [2]]);
  calls[0]?.end(1);
  await settled();
  assert.deepEqual(batchesOf(calls), [[1], [2], [3, 4, 5, 6]]);
  calls[1]?.end(1);
  await settled();
  calls[2]?.end(4);
  calls[3]?.end(1);
  assert.deepEqual(await Promise.all(all), [1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(batchesOf(calls).at(-1), [7]);
});

test('a failure is that of the batches that were not applied', async () => {
  const { calls, apply } = fakeWriter();
  const all = [1, 2, 3, 4, 5].map(apply);
  await settled();
  calls[0]?.end(1);
  await settled();
  calls[2]?.end(1);
  await settled();
  assert.deepEqual(batchesOf(calls), [[1], [2], [3, 4, 5], [4, 5]]);
  calls[3]?.fail(new Error('full'));
  calls[1]?.end(1);
  const outcomes = await Promise.allSettled(all);
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message)),
    [1, 2, 3, 'full', 'full'],
  );
});
