import assert from 'node:assert/strict';
import { test } from 'node:test';
import { streamSoak } from '../../../tools/soak/stream.ts';

test('memory stays flat during a long stream, and other requests stay fast', async () => {
  const result = await streamSoak(60_000);
  assert.equal(result.rows, 60_000);
  assert.ok(result.grownMb < 64, `${result.grownMb} MB`);
  assert.ok(result.lastDuring > 10, `${result.lastDuring} other responses`);
  assert.ok(result.lastDuringP99Ms < 50, `${result.lastDuringP99Ms} ms`);
});
