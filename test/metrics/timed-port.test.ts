import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timedPort } from '../../src/metrics/timed-port.ts';

function timed<Port extends object>(port: Port): { port: Port; times: string[] } {
  const times: string[] = [];
  const operation = (name: string) => (seconds: number) => times.push(`${name} ${seconds >= 0 && seconds < 60}`);
  return { port: timedPort(port, operation), times };
}

test('a call is timed, answered or failed, and gives what it gave', async () => {
  const { port, times } = timed({
    double: async (n: number) => 2 * n,
    fail: async (): Promise<never> => Promise.reject(new Error('no')),
  });
  assert.equal(await port.double(4), 8);
  await assert.rejects(port.fail(), /^Error: no$/);
  assert.deepEqual(times, ['double true', 'fail true']);
});

test('so is a call that answers or fails at once', () => {
  const { port, times } = timed({
    double: (n: number) => 2 * n,
    fail: (): never => {
      throw new Error('no');
    },
  });
  assert.equal(port.double(4), 8);
  assert.throws(() => port.fail(), /^Error: no$/);
  assert.deepEqual(times, ['double true', 'fail true']);
});

test('a stream is timed page by page, and can be given up', async () => {
  let isGivenUp = false;
  const { port, times } = timed({
    async *pages(count: number) {
      try {
        for (let i = 0; i < count; i++) yield [i];
      } finally {
        isGivenUp = true;
      }
    },
  });
  const all: number[][] = [];
  for await (const page of port.pages(2)) all.push(page);
  assert.deepEqual([all, times.length], [[[0], [1]], 3], 'the third look finds the end');
  isGivenUp = false;
  for await (const _ of port.pages(9)) break;
  assert.ok(isGivenUp);
});
