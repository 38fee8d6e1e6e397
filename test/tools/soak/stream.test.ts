import assert from 'node:assert/strict';
import { test } from 'node:test';
import { streamSoak } from '../../../tools/soak/stream.ts';

test('a long stream keeps memory flat and leaves the server to others', async () => {
  const result = await streamSoak(60_000);
  assert.equal(result.rows, 60_000);
  assert.ok(result.grownMb < 64, `${result.grownMb} MB`);
  assert.ok(result.lastBeside > 10, `${result.lastBeside} other answers`);
  assert.ok(result.lastBesideP99Ms < 50, `${result.lastBesideP99Ms} ms`);
});
