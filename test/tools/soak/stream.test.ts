import assert from 'node:assert/strict';
import { test } from 'node:test';
import { streamSoak } from '../../../tools/soak/stream.ts';

const ROWS = 60_000;
const SEARCHES = 10;
/**
 * A search has 60 pages, and between two of them other requests are answered. About 50 are on a free machine and 22
 * were on a busy one, where this process waits too; a search without pages lets two through.
 */
const LOOKUPS_PER_SEARCH = 6;

test('memory stays flat during long streams, and other requests are answered meanwhile', async () => {
  const { rows, grownMb, lastDuring } = await streamSoak(ROWS, { searches: SEARCHES });
  assert.equal(rows, ROWS * SEARCHES);
  assert.ok(grownMb < 64, `${grownMb} MB`);
  assert.ok(lastDuring >= LOOKUPS_PER_SEARCH * SEARCHES, `${lastDuring} other responses`);
});
