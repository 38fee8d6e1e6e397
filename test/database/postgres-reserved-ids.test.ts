import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReservedIds } from '../../src/database/postgres/reserved-ids.ts';

test('transactions that run at the same time find the ids of each other', () => {
  const ids = createReservedIds();
  const [a, b] = [ids.open(), ids.open()];
  a.reserve('example.com', 7);
  assert.equal(b.find('example.com'), 7);
  assert.equal(b.find('example.org'), undefined);
});

test('an id stays reserved while a transaction runs that may have looked for the row too early', () => {
  const ids = createReservedIds();
  const [a, b] = [ids.open(), ids.open()];
  a.reserve('example.com', 7);
  a.close();
  const c = ids.open(); // looks for the row after the end of `a`
  assert.equal(b.find('example.com'), 7);
  b.close();
  assert.equal(c.find('example.com'), undefined);
});

test('of transactions that follow each other without a pause, only the last ids stay reserved', () => {
  const ids = createReservedIds();
  let last = ids.open();
  for (let i = 0; i < 100; i++) {
    const next = ids.open();
    last.reserve(`host${i}.example`, i);
    last.close();
    last = next;
  }
  const kept = Array.from({ length: 100 }, (_, i) => last.find(`host${i}.example`)).filter((id) => id !== undefined);
  assert.deepEqual(kept, [99]);
});
