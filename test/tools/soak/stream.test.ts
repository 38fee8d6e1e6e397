import assert from 'node:assert/strict';
import { test } from 'node:test';
import { streamSoak } from '../../../tools/soak/stream.ts';

/** Other load on the machine disturbs percentiles, so one of three runs must be fast. */
const MAX_RUNS = 3;

test('memory stays flat during a long stream, and other requests stay fast', async () => {
  const p99Ms: number[] = [];
  const isFast = () => Math.min(...p99Ms) < 50;
  for (let i = 0; i < MAX_RUNS && !isFast(); i++) {
    const result = await streamSoak(60_000);
    assert.equal(result.rows, 60_000);
    assert.ok(result.grownMb < 64, `${result.grownMb} MB`);
    assert.ok(result.lastDuring > 10, `${result.lastDuring} other responses`);
    p99Ms.push(result.lastDuringP99Ms);
  }
  assert.ok(isFast(), `${p99Ms.join()} ms`);
});
