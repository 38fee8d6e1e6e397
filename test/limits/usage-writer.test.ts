import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Usage } from '../../src/limits/store.ts';
import { createUsageWriter } from '../../src/limits/usage-writer.ts';

/** 2026-11-30, the last day of a month; in days and months since 1970. */
const TS = Date.UTC(2026, 10, 30, 12) / 1000;
const [DAY, MONTH] = [20_787, 682];

/** A store that records its batches. While `gate` is set, a write waits for it. */
function createStore() {
  const batches: Usage[][] = [];
  return {
    batches,
    gate: undefined as Promise<void> | undefined,
    async addUsage(batch: readonly Usage[]) {
      batches.push(batch.map((usage) => ({ ...usage })));
      await this.gate;
    },
  };
}

function openWriter(t: TestContext, store: { addUsage(batch: readonly Usage[]): Promise<void> }, options = {}) {
  const writer = createUsageWriter(store, { flushMs: 1_000_000, ...options });
  t.after(() => writer.close());
  return writer;
}

test('counts are added by account and day', async (t) => {
  const store = createStore();
  const writer = openWriter(t, store);
  writer.add('a', TS, 2);
  writer.add('a', TS + 1, 3);
  writer.add('a', TS + 86_400, 5);
  writer.add('a', TS + 86_400, 1);
  writer.add('b', TS, 7);
  writer.add('b', TS, -2);
  await writer.flush();
  assert.deepEqual(store.batches, [
    [
      { sub: 'a', day: DAY, month: MONTH, count: 5 },
      { sub: 'a', day: DAY + 1, month: MONTH + 1, count: 6 },
      { sub: 'b', day: DAY, month: MONTH, count: 5 },
    ],
  ]);
});

test('written counts are not written again, and an empty batch is not written', async (t) => {
  const store = createStore();
  const writer = openWriter(t, store);
  assert.equal(await writer.flush(), true);
  assert.equal(store.batches.length, 0);
  writer.add('a', TS, 1);
  await writer.flush();
  await writer.flush();
  assert.equal(store.batches.length, 1);
});

test('one batch is written at a time, and calls during a write share the next batch', async (t) => {
  const store = createStore();
  const writer = openWriter(t, store);
  const gate = Promise.withResolvers<void>();
  store.gate = gate.promise;
  writer.add('a', TS, 1);
  const first = writer.flush();
  await new Promise(setImmediate);
  writer.add('a', TS, 2);
  const [second, third] = [writer.flush(), writer.flush()];
  assert.equal(second, third);
  await new Promise(setImmediate);
  assert.equal(store.batches.length, 1);
  gate.resolve();
  await Promise.all([first, second]);
  assert.deepEqual(
    store.batches.map((batch) => batch.map(({ count }) => count)),
    [[1], [2]],
  );
});

test('a failed batch is reported, and its counts are part of the next one', async (t) => {
  const store = createStore();
  const errors: unknown[] = [];
  const writer = openWriter(t, store, { onFlushFailed: (error: unknown) => errors.push(error) });
  const down = new Error('down');
  store.gate = Promise.reject(down);
  writer.add('a', TS, 1);
  assert.equal(await writer.flush(), false);
  assert.deepEqual(errors, [down]);
  store.gate = undefined;
  writer.add('a', TS, 2);
  assert.equal(await writer.flush(), true);
  assert.deepEqual(store.batches.at(-1), [{ sub: 'a', day: DAY, month: MONTH, count: 3 }]);
});

test('flush does not reject after a failure without a listener', async (t) => {
  const store = createStore();
  const writer = openWriter(t, store);
  store.gate = Promise.reject(new Error('down'));
  writer.add('a', TS, 1);
  await writer.flush();
  store.gate = undefined;
});

test('counts are written twice a second; close writes the rest and stops the timer', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const store = createStore();
  const writer = createUsageWriter(store, {});
  const written = async () => {
    await new Promise(setImmediate);
    return store.batches.length;
  };
  writer.add('a', TS, 1);
  t.mock.timers.tick(499);
  assert.equal(await written(), 0);
  t.mock.timers.tick(1);
  assert.equal(await written(), 1);
  writer.add('a', TS, 1);
  await writer.close();
  assert.equal(await written(), 2);
  writer.add('a', TS, 1);
  t.mock.timers.tick(10_000);
  assert.equal(await written(), 2);
});

test('an open writer does not keep the process running', (t) => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  openWriter(t, createStore());
  assert.equal(timers(), before);
});
