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

test('of transactions that add the same text, the later one waits for the end of the earlier one', async () => {
  const ids = createReservedIds();
  const [a, b, c] = [ids.open(), ids.open(), ids.open()];
  for (const [reservation, ...texts] of [[b, 'same', 'b'] as const, [a, 'a', 'same'] as const, [c, 'c'] as const])
    for (const text of texts) reservation.reserve(text, 7);
  assert.deepEqual(await a.afterSame(), []);
  assert.deepEqual(await c.afterSame(), [], 'without the same text there is nothing to wait for');
  let hasEnded = false;
  const same = b.afterSame().then((texts) => [texts, hasEnded]);
  await new Promise(setImmediate);
  hasEnded = true;
  a.close();
  assert.deepEqual(await same, [['same'], true]);
});

test('texts of a transaction that has ended may have been added since others looked for them', async () => {
  const ids = createReservedIds();
  const [a, b] = [ids.open(), ids.open()];
  a.reserve('same', 7);
  await a.afterSame();
  a.close();
  b.reserve('same', 7);
  assert.deepEqual(await b.afterSame(), ['same']);
});
