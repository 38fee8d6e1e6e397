import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createReadTogether } from '../../src/database/postgres/read-together.ts';

test('queries of one iteration of the event loop are read together, each group in parts of at most 100', async () => {
  const reads: number[][] = [];
  const double = createReadTogether(
    async (numbers: readonly number[]) => {
      reads.push([...numbers]);
      return numbers.map((number) => (number < 3 ? Promise.resolve(2 * number) : 2 * number));
    },
    (number) => (number === 2 ? 'two' : 'others'),
  );
  assert.deepEqual(await Promise.all([1, 2, 3].map(double)), [2, 4, 6]);
  const many = Array.from({ length: 201 }, (_, i) => i + 3);
  const last = await Promise.all(many.map(double));
  assert.deepEqual(
    reads.map(({ length }) => length),
    [2, 1, 100, 100, 1],
  );
  assert.equal(last.at(-1), 406);
  const first = double(1);
  await setImmediate();
  await Promise.all([first, double(1)]);
  assert.equal(reads.length, 7, 'a later query is another read');
});

test('a read that fails rejects each of its queries, and the next read is not affected', async () => {
  let isDown = true;
  const read = createReadTogether(async (texts: readonly string[]) => {
    if (isDown) throw new Error('down');
    return texts.map((text) => (text === 'bad' ? Promise.reject(new Error('bad')) : text));
  });
  const outcomes = async (...texts: string[]) =>
    (await Promise.allSettled(texts.map(read))).map((one) =>
      one.status === 'fulfilled' ? one.value : one.reason.message,
    );
  assert.deepEqual(await outcomes('a', 'b'), ['down', 'down']);
  isDown = false;
  assert.deepEqual(await outcomes('a', 'bad', 'b'), ['a', 'bad', 'b']);
});
