import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { importRow } from '../../../tools/bench/import.ts';
import { needs } from '../../needs.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

needs('sqlite3');

test('the import benchmark measures both programs, and the same data again, and deletes its files', async (t) => {
  const folder = temporaryFolder(t);
  const { ours, again, yardstick, unit } = await importRow({ rows: 500, rounds: 2, folder });
  assert.equal(unit, 'rows/s');
  for (const rates of [ours, again, yardstick]) {
    assert.equal(rates.length, 2);
    assert.ok(rates.every((rate) => rate > 0 && Number.isFinite(rate)));
  }
  assert.deepEqual(readdirSync(folder), []);
});
