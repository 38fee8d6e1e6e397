import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killLoop } from '../../../tools/soak/kill.ts';

test('kill -9 while batches are applied: the store opens again, and the same import leads to the same state', async () => {
  const result = await killLoop({ rounds: 4, observations: 6_000, batchSize: 500, maxDelayMs: 400 });
  assert.deepEqual(result.faults, []);
  assert.ok(result.killed > 0, 'no run was killed before its end: the test has shown nothing');
  assert.ok(result.sameState);
});
