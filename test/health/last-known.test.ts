import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastKnown } from '../../src/health/last-known.ts';

test('the value is fresh if it can be read in time, otherwise the last one that was read', async () => {
  let reads = 0;
  let read = async () => ++reads;
  const value = lastKnown(() => read(), 0);
  assert.deepEqual(await Promise.all([value(), value()]), [1, 1], 'concurrent calls share a read');
  assert.equal(await value(), 2);
  const late = Promise.withResolvers<number>();
  read = () => late.promise;
  const startedMs = performance.now();
  assert.equal(await value(), 2);
  assert.ok(performance.now() - startedMs < 1000);
  late.resolve(7);
  assert.equal(await value(), 7);
  read = () => Promise.reject(new Error('no database'));
  await assert.rejects(value(), /no database/);
});

test('before the first value was read, the fallback is used', async () => {
  assert.deepEqual(await lastKnown(() => new Promise<string[]>(() => {}), [])(), []);
});
