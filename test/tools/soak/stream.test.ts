import assert from 'node:assert/strict';
import { test } from 'node:test';
import { streamSoak } from '../../../tools/soak/stream.ts';

const ROWS = 60_000;
const SEARCHES = 10;
/** A search has 60 pages. Between two of them other requests are answered, however fast the machine is. */
const LOOKUPS_PER_SEARCH = 25;

test('memory stays flat during long streams, and other requests are answered meanwhile', async () => {
  const { rows, grownMb, lastDuring } = await streamSoak(ROWS, { searches: SEARCHES });
  assert.equal(rows, ROWS * SEARCHES);
  assert.ok(grownMb < 64, `${grownMb} MB`);
  assert.ok(lastDuring >= LOOKUPS_PER_SEARCH * SEARCHES, `${lastDuring} other responses`);
});
