import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partOfMigration, readMigrations } from '../../src/database/migrations.ts';

test('every migration is of one part and stands in one order', () => {
  for (const engine of ['sqlite', 'postgres'] as const) {
    const migrations = readMigrations(engine);
    for (const [i, { number, name }] of migrations.entries()) {
      assert.equal(number, i + 1, name);
      assert.match(partOfMigration(name), /^(?:intelligence|control)$/);
    }
  }
});

test('both engines have migrations of the same names', () => {
  const names = (engine: 'sqlite' | 'postgres') => readMigrations(engine).map(({ name }) => name);
  assert.deepEqual(names('postgres'), names('sqlite'));
});
