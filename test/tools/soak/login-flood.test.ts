import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loginFlood } from '../../../tools/soak/login-flood.ts';

/** Other load on the machine disturbs percentiles, so one of three runs must pass. */
const MAX_RUNS = 3;

test('a flood of wrong logins does not slow down lookups or known customers', async () => {
  const ratios: number[] = [];
  for (let i = 0; i < MAX_RUNS && !ratios.some((ratio) => ratio <= 2); i++) {
    const { withoutFloodP99Ms, duringFloodP99Ms, knownLoginMs, flood } = await loginFlood(2_500);
    assert.ok(knownLoginMs < 2_000, `${knownLoginMs} ms for an account that had logged in before`);
    assert.ok((flood[401] ?? 0) > 20, `too few wrong logins were verified: ${JSON.stringify(flood)}`);
    ratios.push(duringFloodP99Ms / withoutFloodP99Ms);
  }
  assert.ok(Math.min(...ratios) <= 2, `p99 of url/last during the flood / without it: ${ratios}`);
});
