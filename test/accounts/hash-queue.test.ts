import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createHashQueue } from '../../src/accounts/hash-queue.ts';

/** A queue whose hashes end when the test calls `endOne`. */
function createTestQueue(cores: number) {
  const hashQueue = createHashQueue(cores);
  const running: { name: string; end: (fails?: boolean) => void }[] = [];
  return {
    running,
    started: [] as string[],
    /** Whether the queue accepted the login. */
    add(name: string, isKnown = false): boolean {
      const run = hashQueue.run({ key: name, isKnown }, () => {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        running.push({ name, end: (fails) => (fails ? reject(new Error('failed')) : resolve()) });
        this.started.push(name);
        return promise;
      });
      run?.catch(() => {});
      return run !== null;
    },
    async endOne(index = 0, fails = false): Promise<void> {
      const [work] = running.splice(index, 1);
      work?.end(fails);
      await new Promise(setImmediate);
    },
  };
}

for (const [cores, maxRunning] of [
  [1, 1],
  [2, 1],
  [3, 1],
  [4, 2],
  [16, 8],
] as const) {
  test(`${cores} cores: ${maxRunning} concurrent, ${16 * maxRunning} waiting, and ${32 * maxRunning} known ones`, () => {
    const queue = createTestQueue(cores);
    const accepted = Array.from({ length: 200 }, (_, i) => queue.add(`${i}`)).filter(Boolean).length;
    const acceptedKnown = Array.from({ length: 400 }, (_, i) => queue.add(`${i}`, true)).filter(Boolean).length;
    assert.equal(queue.running.length, maxRunning);
    assert.deepEqual([accepted, acceptedKnown], [maxRunning + 16 * maxRunning, 32 * maxRunning]);
  });
}

test('one login waits per key', async () => {
  const queue = createTestQueue(1);
  assert.deepEqual([queue.add('a'), queue.add('a'), queue.add('a'), queue.add('b')], [true, true, false, true]);
  await queue.endOne();
  assert.equal(queue.add('a'), true);
});

test('known logins run first, also when the queue of the others is full', async () => {
  const queue = createTestQueue(1);
  for (let i = 0; i < 100; i++) queue.add(`unknown ${i}`);
  assert.ok(queue.add('ada', true));
  assert.ok(queue.add('bob', true));
  for (let i = 0; i < 3; i++) await queue.endOne();
  assert.deepEqual(queue.started, ['unknown 0', 'ada', 'bob', 'unknown 1']);
});

const step = fc.oneof(
  fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd', 'e'), isKnown: fc.boolean() }),
  fc.record({ ends: fc.nat(3), fails: fc.boolean() }),
);

test('the maximum number runs while logins wait, and every accepted login runs', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const queue = createTestQueue(4);
      let accepted = 0;
      let ended = 0;
      const end = async (index: number, fails: boolean) => {
        if (index >= queue.running.length) return;
        await queue.endOne(index, fails);
        ended++;
      };
      for (const step of steps) {
        if ('name' in step) accepted += Number(queue.add(step.name, step.isKnown));
        else await end(step.ends, step.fails);
        assert.equal(queue.running.length, Math.min(2, accepted - ended));
      }
      while (queue.running.length > 0) await end(0, false);
      assert.equal(queue.started.length, accepted);
    }),
  );
});

test('a new login cannot start between the end of one and the start of the next', async () => {
  // A login arrives in each of the microtasks between the end of the first and the start of the second.
  for (let microtasks = 0; microtasks < 8; microtasks++) {
    const queue = createHashQueue(1);
    let running = 0;
    let maxRunning = 0;
    const work = async () => {
      maxRunning = Math.max(maxRunning, ++running);
      await new Promise(setImmediate);
      running--;
    };
    const add = (key: string, job = work): Promise<unknown> =>
      queue.run({ key, isKnown: false }, job) ?? Promise.resolve();
    let late: Promise<unknown> = Promise.resolve();
    const first = add('a', () => {
      const ended = work();
      late = ended;
      for (let i = 0; i < microtasks; i++) late = late.then(() => {});
      late = late.then(() => add('c'));
      return ended;
    });
    const second = add('b');
    await Promise.all([first, second]);
    await late;
    assert.equal(maxRunning, 1, `${microtasks} microtasks later`);
  }
});
