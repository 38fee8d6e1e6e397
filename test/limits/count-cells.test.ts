import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { Policy } from '../../src/core/quota.ts';
import {
  addForStore,
  type Cells,
  closeStream,
  createBuffer,
  createCellFinder,
  openStream,
  raiseCounts,
  read,
  refund,
  release,
  SLOTS_PER_BUFFER,
  take,
  takeUnwritten,
} from '../../src/limits/count-cells.ts';

const MIDNIGHT = Date.parse('2026-11-16T00:00:00Z') / 1000;
const TODAY = MIDNIGHT / 86_400;
const NO_LIMIT: Policy[] = [];

/** The same place as two threads see it, the first one 0. */
function twoThreads(slot = 0): [Cells, Cells] {
  const place = { buffer: createBuffer(), bufferNumber: 0, slot };
  return [createCellFinder()(place), createCellFinder()(place)];
}

function unwritten(cells: Cells): [day: number, count: number][] {
  const found: [number, number][] = [];
  takeUnwritten(cells, 0, (day, count) => found.push([day, count]));
  return found.sort(([a], [b]) => a - b);
}

/** A thread that takes half a million queries. */
const TAKE_MANY = `
  const { place, thread, ts, module } = require('node:worker_threads').workerData;
  import(module).then(({ createCellFinder, take }) => {
    const cells = createCellFinder()(place);
    for (let i = 0; i < 500_000; i++) take(cells, thread, ts, [], 1);
  });`;

test('two threads that count at the same time lose nothing', async () => {
  const place = { buffer: createBuffer(), bufferNumber: 0, slot: 0 };
  const module = new URL('../../src/limits/count-cells.ts', import.meta.url).href;
  const run = (thread: number) =>
    once(new Worker(TAKE_MANY, { eval: true, workerData: { place, thread, ts: MIDNIGHT, module } }), 'exit');
  assert.deepEqual(await Promise.all([run(1), run(2)]), [[0], [0]]);
  assert.equal(read(createCellFinder()(place), 0, MIDNIGHT).counts.month, 1_000_000);
});

test('threads see the counts of each other, and a limit holds for both', () => {
  const [first, second] = twoThreads();
  const policies: Policy[] = [{ name: 'qmh', window: 'month', limit: 3 }];
  const admitted = [first, second, first, second].map(
    (cells, i) => take(cells, i % 2, MIDNIGHT, policies, 1).isAdmitted,
  );
  assert.deepEqual(admitted, [true, true, true, false]);
  assert.equal(read(second, 1, MIDNIGHT).counts.month, 3);
});

test('the places of a buffer do not touch each other', () => {
  const finder = createCellFinder();
  const buffer = createBuffer();
  const places = Array.from({ length: SLOTS_PER_BUFFER }, (_, slot) => finder({ buffer, bufferNumber: 0, slot }));
  for (const [i, cells] of places.entries()) {
    take(cells, 63, MIDNIGHT, NO_LIMIT, i + 1);
    openStream(cells, 63, 8);
  }
  for (const [i, cells] of places.entries()) {
    assert.equal(read(cells, 0, MIDNIGHT).counts.second, i + 1);
    assert.deepEqual(unwritten(cells), [[TODAY, i + 1]]);
  }
});

test('a reading raises counts of windows that have not ended, and lowers none', () => {
  const [first, second] = twoThreads();
  take(first, 0, MIDNIGHT + 5, NO_LIMIT, 7); // counted while the store was read
  const counts = { second: 9, minute: 9, hour: 3, day: 9, month: 20 };
  raiseCounts(second, 1, MIDNIGHT + 5, { counts, ts: MIDNIGHT + 4 });
  assert.deepEqual(read(first, 0, MIDNIGHT + 5).counts, { second: 7, minute: 9, hour: 7, day: 9, month: 20 });
});

test('what is not in the store yet is taken out once, of each day by itself', () => {
  const [first, second] = twoThreads(7);
  take(first, 0, MIDNIGHT - 1, NO_LIMIT, 5);
  take(second, 1, MIDNIGHT, NO_LIMIT, 2);
  refund(first, 0, MIDNIGHT - 1, 1); // of a query of yesterday
  addForStore(second, 1, MIDNIGHT, 10);
  assert.deepEqual(unwritten(first), [
    [TODAY - 1, 4],
    [TODAY, 12],
  ]);
  assert.deepEqual(unwritten(first), []);
});

test('streams of all threads count together; those of a thread that has ended do not', () => {
  const [first, second] = twoThreads();
  assert.deepEqual(
    Array.from({ length: 3 }, () => openStream(first, 0, 3)),
    [true, true, true],
  );
  assert.equal(openStream(second, 1, 3), false);
  closeStream(first, 0);
  assert.equal(openStream(second, 1, 3), true);
  release(first, 1);
  assert.equal(openStream(first, 0, 3), true);
  assert.equal(openStream(first, 0, 3), false);
});

test('a lock is waited for, and that of a thread that has ended is released', () => {
  const [first, second] = twoThreads();
  const heldByThread1 = 2;
  Atomics.store(first.ints, 0, heldByThread1);
  release(second, 3);
  assert.equal(Atomics.load(first.ints, 0), heldByThread1, 'another thread has ended');
  release(second, 1);
  take(second, 0, MIDNIGHT, NO_LIMIT, 1);
  assert.equal(read(first, 0, MIDNIGHT).counts.second, 1);
});
