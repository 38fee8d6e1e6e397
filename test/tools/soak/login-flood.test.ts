import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loginFlood } from '../../../tools/soak/login-flood.ts';

/** Percentiles of a shared machine: what holds in one of three runs is not the server's doing when it fails in others. */
const TRIES = 3;

test('a flood of wrong logins neither slows lookups nor keeps customers out', async () => {
  const ratios: number[] = [];
  for (let i = 0; i < TRIES && !ratios.some((ratio) => ratio <= 2); i++) {
    const { aloneP99Ms, besideP99Ms, knownLoginMs, flood } = await loginFlood(2_500);
    assert.ok(knownLoginMs < 2_000, `${knownLoginMs} ms for an account that had logged in before`);
    assert.ok((flood[401] ?? 0) > 20, `the flood was none: ${JSON.stringify(flood)}`);
    ratios.push(besideP99Ms / aloneP99Ms);
  }
  assert.ok(Math.min(...ratios) <= 2, `p99 of url/last beside the flood, as multiples of alone: ${ratios}`);
});
