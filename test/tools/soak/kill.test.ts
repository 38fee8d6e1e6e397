import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killLoop } from '../../../tools/soak/kill.ts';

test('after kill -9 during apply the store is intact, and applying again has the same result', async () => {
  const result = await killLoop({ rounds: 4, observations: 6_000, batchSize: 500, maxDelayMs: 400 });
  assert.deepEqual(result.faults, []);
  assert.ok(result.killed > 0, 'no run was killed before its end');
  assert.ok(result.sameState);
});
