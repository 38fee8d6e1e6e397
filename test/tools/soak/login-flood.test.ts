import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loginFlood } from '../../../tools/soak/login-flood.ts';

/**
 * Other load on the machine disturbs percentiles and leaves no time for wrong logins, so one of three runs must pass. On an idle
 * machine the ratio is below 2, with logins on the thread of the lookups above 4.
 */
const MAX_RUNS = 3;
const MAX_RATIO = 4;
const MIN_VERIFIED = 10;

test('a flood of wrong logins does not slow down lookups or known customers', async () => {
  const runs: { ratio: number; verified: number }[] = [];
  const isGood = () => runs.some(({ ratio, verified }) => ratio <= MAX_RATIO && verified >= MIN_VERIFIED);
  for (let i = 0; i < MAX_RUNS && !isGood(); i++) {
    const { withoutFloodP99Ms, duringFloodP99Ms, knownLoginMs, flood } = await loginFlood(2_500);
    assert.ok(knownLoginMs < 2_000, `${knownLoginMs} ms for an account that had logged in before`);
    runs.push({ ratio: duringFloodP99Ms / withoutFloodP99Ms, verified: flood[401] ?? 0 });
  }
  assert.ok(isGood(), `p99 of url/last during the flood / without it, and verified logins: ${JSON.stringify(runs)}`);
});
