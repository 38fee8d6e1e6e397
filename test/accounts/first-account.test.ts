import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ensureFirstAccount } from '../../src/accounts/first-account.ts';
import { postgresControl } from '../postgres-control.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';

test('of nodes that start together on an empty database, one creates the first account', async (t) => {
  const url = await temporaryDatabase(t);
  const nodes = await Promise.all([1, 2, 3].map(() => postgresControl(t, url)));
  const created = await Promise.all(nodes.map((control) => ensureFirstAccount(control, false, 1)));
  assert.deepEqual(
    created.filter((account) => account !== null).map(({ username }) => username),
    ['operator'],
  );
});
