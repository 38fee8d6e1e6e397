import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usageKill } from '../../../tools/soak/usage-kill.ts';

test('after kill -9 at most one second of counted queries is lost', async () => {
  const { answeredBefore, answered, counted } = await usageKill(2_500);
  assert.ok(answeredBefore > 10, `only ${answeredBefore} responses`);
  assert.ok(counted >= answeredBefore, `${counted} counted, ${answeredBefore} answered a second before`);
  assert.ok(counted <= answered + 1, `${counted} counted, ${answered} answered`);
});
