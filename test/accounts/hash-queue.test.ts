import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createHashQueue } from '../../src/accounts/hash-queue.ts';

/** A queue whose work ends when the test says so. */
function createYard(cores: number) {
  const queue = createHashQueue(cores);
  const running: { name: string; end: (fails?: boolean) => void }[] = [];
  return {
    running,
    started: [] as string[],
    /** Whether there was room. */
    arrive(name: string, isKnown = false): boolean {
      const run = queue.run({ key: name, isKnown }, () => {
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

for (const [cores, slots] of [
  [1, 1],
  [2, 1],
  [3, 1],
  [4, 2],
  [16, 8],
] as const) {
  test(`${cores} cores: ${slots} at a time, ${16 * slots} wait, and ${32 * slots} known ones`, () => {
    const yard = createYard(cores);
    const room = Array.from({ length: 200 }, (_, i) => yard.arrive(`${i}`)).filter(Boolean).length;
    const knownRoom = Array.from({ length: 400 }, (_, i) => yard.arrive(`${i}`, true)).filter(Boolean).length;
    assert.equal(yard.running.length, slots);
    assert.deepEqual([room, knownRoom], [slots + 16 * slots, 32 * slots]);
  });
}

test('one waits per key', async () => {
  const yard = createYard(1);
  assert.deepEqual([yard.arrive('a'), yard.arrive('a'), yard.arrive('a'), yard.arrive('b')], [true, true, false, true]);
  await yard.endOne();
  assert.equal(yard.arrive('a'), true);
});

test('known ones go first, also when the other line is full', async () => {
  const yard = createYard(1);
  for (let i = 0; i < 100; i++) yard.arrive(`stranger ${i}`);
  assert.ok(yard.arrive('ada', true));
  assert.ok(yard.arrive('bob', true));
  for (let i = 0; i < 3; i++) await yard.endOne();
  assert.deepEqual(yard.started, ['stranger 0', 'ada', 'bob', 'stranger 1']);
});

const step = fc.oneof(
  fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd', 'e'), isKnown: fc.boolean() }),
  fc.record({ ends: fc.nat(3), fails: fc.boolean() }),
);

test('never more than the slots, never fewer while someone waits, and everyone who was let in is judged', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const yard = createYard(4);
      let letIn = 0;
      let ended = 0;
      const end = async (index: number, fails: boolean) => {
        if (index >= yard.running.length) return;
        await yard.endOne(index, fails);
        ended++;
      };
      for (const step of steps) {
        if ('name' in step) letIn += Number(yard.arrive(step.name, step.isKnown));
        else await end(step.ends, step.fails);
        assert.equal(yard.running.length, Math.min(2, letIn - ended));
      }
      while (yard.running.length > 0) await end(0, false);
      assert.equal(yard.started.length, letIn);
    }),
  );
});

test('a slot is handed over, so that nobody slips in between', async () => {
  // In each of the microtasks between the end of the first and the start of the second, somebody arrives.
  for (let microtasks = 0; microtasks < 8; microtasks++) {
    const queue = createHashQueue(1);
    let running = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
    };
    const visit = (key: string, job = work): Promise<unknown> =>
      queue.run({ key, isKnown: false }, job) ?? Promise.resolve();
    let late: Promise<unknown> = Promise.resolve();
    const first = visit('a', () => {
      const ended = work();
      late = ended;
      for (let i = 0; i < microtasks; i++) late = late.then(() => {});
      late = late.then(() => visit('c'));
      return ended;
    });
    const second = visit('b');
    await Promise.all([first, second]);
    await late;
    assert.equal(most, 1, `${microtasks} microtasks later`);
  }
});
