import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cached } from '../../src/core/cached.ts';

test('a result is computed once, and again after the cache was full', () => {
  const computed: number[] = [];
  const double = cached(2, (n: number) => {
    computed.push(n);
    return 2 * n;
  });
  assert.deepEqual([1, 2, 1, 2].map(double), [2, 4, 2, 4]);
  assert.deepEqual(computed, [1, 2]);
  assert.deepEqual([3, 3, 1].map(double), [6, 6, 2]);
  assert.deepEqual(computed, [1, 2, 3, 1]);
});
