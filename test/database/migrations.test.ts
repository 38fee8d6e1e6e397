import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partOfMigration, readMigrations } from '../../src/database/migrations.ts';

test('migrations are numbered without gaps, and each belongs to one part', () => {
  for (const engine of ['sqlite', 'postgres'] as const) {
    const migrations = readMigrations(engine);
    for (const [i, { number, name }] of migrations.entries()) {
      assert.equal(number, i + 1, name);
      assert.match(partOfMigration(name), /^(?:intelligence|control)$/);
    }
  }
});

test('both engines have migrations with the same names', () => {
  const names = (engine: 'sqlite' | 'postgres') => readMigrations(engine).map(({ name }) => name);
  assert.deepEqual(names('postgres'), names('sqlite'));
});
