import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importKillLoop } from '../../../tools/soak/import-kill.ts';

test('kill -9 in the middle of imports: one more import ends in the state of one that nobody disturbed', async () => {
  const result = await importKillLoop({ kills: 3, rows: 4_000 });
  assert.deepEqual(result.faults, []);
  assert.ok(result.killed > 0, 'no run was killed before its end: the test has shown nothing');
  assert.ok(result.sameState);
});
