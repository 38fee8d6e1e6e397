import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importKillLoop } from '../../../tools/soak/import-kill.ts';

test('after kill -9 during imports, one more import has the result of an undisturbed import', async () => {
  const result = await importKillLoop({ kills: 3, rows: 4_000 });
  assert.deepEqual(result.faults, []);
  assert.ok(result.killed > 0, 'no run was killed before its end');
  assert.ok(result.sameState);
});
