import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { timedPort } from '../../src/metrics/timed-port.ts';

/** By a clock that goes only when `pass` is called. */
function timed<Port extends object>(t: TestContext, portOf: (pass: (ms: number) => void) => Port) {
  let nowMs = 1_000;
  t.mock.method(performance, 'now', () => nowMs);
  const pass = (ms: number) => {
    nowMs += ms;
  };
  const times: string[] = [];
  const operation = (name: string) => (seconds: number) => times.push(`${name} ${seconds}`);
  return { port: timedPort(portOf(pass), operation), times, pass };
}

test('an asynchronous call is timed, successful or failed, and its result is unchanged', async (t) => {
  const { port, times } = timed(t, (pass) => ({
    async double(n: number) {
      await Promise.resolve();
      pass(250);
      return 2 * n;
    },
    async fail(): Promise<never> {
      await Promise.resolve();
      pass(500);
      throw new Error('no');
    },
  }));
  assert.equal(await port.double(4), 8);
  await assert.rejects(port.fail(), /^Error: no$/);
  assert.deepEqual(times, ['double 0.25', 'fail 0.5']);
});

test('a synchronous call is timed, successful or failed, and its result is unchanged', (t) => {
  const { port, times } = timed(t, (pass) => ({
    double(n: number) {
      pass(250);
      return 2 * n;
    },
    fail(): never {
      pass(500);
      throw new Error('no');
    },
  }));
  assert.equal(port.double(4), 8);
  assert.throws(() => port.fail(), /^Error: no$/);
  assert.deepEqual(times, ['double 0.25', 'fail 0.5']);
});

test('a stream is timed page by page, without the time of its reader, and can be closed early', async (t) => {
  let isClosed = false;
  const { port, times, pass } = timed(t, (pass) => ({
    async *pages(count: number) {
      try {
        for (let i = 0; i < count; i++) {
          pass(250);
          yield [i];
        }
      } finally {
        isClosed = true;
      }
    },
  }));
  const all: number[][] = [];
  for await (const page of port.pages(2)) {
    all.push(page);
    pass(60_000);
  }
  assert.deepEqual(all, [[0], [1]]);
  assert.deepEqual(times, ['pages 0.25', 'pages 0.25', 'pages 0'], 'the third read finds the end');
  isClosed = false;
  for await (const _ of port.pages(9)) break;
  assert.ok(isClosed);
});
