import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database, Statement } from '../../src/database/sqlite/database.ts';
import { createTextCache } from '../../src/urls/sqlite/json-cache.ts';

test('names are JSON, read once each, and again after the cache was full', () => {
  let reads = 0;
  const query = {
    one: (id: number) => {
      reads++;
      return [`name "${id}"`];
    },
  } as unknown as Statement<[string]>;
  const names = createTextCache({ prepare: () => query } as unknown as Database, 'reporters', 'name');
  assert.equal(names(1), '"name \\"1\\""');
  assert.equal(names(1), '"name \\"1\\""');
  assert.equal(reads, 1);
  for (let id = 2; id <= 10_001; id++) names(id);
  assert.equal(names(1), '"name \\"1\\""');
  assert.equal(reads, 10_002);
});
