import assert from 'node:assert/strict';
import { test } from 'node:test';
import { streamSoak } from '../../../tools/soak/stream.ts';

/** One search takes a tenth of a second, too little for many lookups beside it. */
const SEARCHES = 10;
const ROWS = 60_000;

/** Other load on the machine disturbs percentiles, so one of three runs must be fast. */
const MAX_RUNS = 3;

/** On a busy machine lookups take long without a stream too. */
const isFast = ({ lastBeforeP99Ms, lastDuringP99Ms }: Awaited<ReturnType<typeof streamSoak>>) =>
  lastDuringP99Ms < Math.max(50, 4 * lastBeforeP99Ms);

test('memory stays flat during long streams, and other requests stay fast', async () => {
  const runs: Awaited<ReturnType<typeof streamSoak>>[] = [];
  while (runs.length < MAX_RUNS && !runs.some(isFast)) {
    const run = await streamSoak(ROWS, { searches: SEARCHES });
    assert.equal(run.rows, ROWS * SEARCHES);
    assert.ok(run.grownMb < 64, `${run.grownMb} MB`);
    assert.ok(run.lastDuring > 10, `${run.lastDuring} other responses`);
    runs.push(run);
  }
  assert.ok(runs.some(isFast), JSON.stringify(runs));
});
