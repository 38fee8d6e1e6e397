import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usageKill } from '../../../tools/soak/usage-kill.ts';

test('kill -9: at most one second of counted queries is missing', async () => {
  const { answeredBefore, answered, counted } = await usageKill(2_500);
  assert.ok(answeredBefore > 50, `only ${answeredBefore} answers: the test has shown nothing`);
  assert.ok(counted >= answeredBefore, `${counted} counted, ${answeredBefore} answered a second before`);
  assert.ok(counted <= answered + 1, `${counted} counted, ${answered} answered`);
});
