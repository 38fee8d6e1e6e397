import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/core/errors.ts';
import { watchDatabase } from '../../src/health/database-watch.ts';
import { createOutages } from '../../src/health/outages.ts';

/** A watch whose checks and seconds the test controls. */
function world() {
  let ms = 1_000_000;
  let tick = () => {};
  let checks = 0;
  let lines = 0;
  let check = async () => {};
  const count = () => void lines++;
  const outages = createOutages({ error: count, warn: count }, () => ms);
  const watch = watchDatabase({
    check: () => {
      checks++;
      return check();
    },
    outages,
    nowMs: () => ms,
    every(intervalMs, work) {
      assert.equal(intervalMs, 1000);
      tick = work;
      return () => {
        tick = () => {};
      };
    },
  });
  return {
    watch,
    outages,
    lines: () => lines,
    checks: () => checks,
    setCheck(next: () => Promise<void>) {
      check = next;
    },
    suspend(forMs: number) {
      ms += forMs;
    },
    async second() {
      ms += 1000;
      tick();
      await new Promise(setImmediate);
    },
  };
}

const away = () => Promise.reject(new AppError('unavailable', 'host db.example is down'));
const isNotReady = (message: string) => (error: AppError) => error.code === 'not_ready' && error.message === message;

test('without requests, an outage is noticed and logged, and so is its end', async () => {
  const { watch, setCheck, second, lines } = world();
  await second();
  assert.deepEqual([watch.isUp(), lines()], [true, 0]);
  setCheck(away);
  await second();
  await second();
  assert.deepEqual([watch.isUp(), lines()], [false, 1]);
  await assert.rejects(watch.ready(), isNotReady('The database does not answer'));
  setCheck(async () => {});
  await watch.ready();
  assert.equal(watch.isUp(), true);
  for (let i = 0; i < 6; i++) await second();
  assert.equal(lines(), 2);
});

test('while a check hangs, the last result is used for three seconds, and no other check starts', async () => {
  const { watch, setCheck, second, checks, lines } = world();
  await second();
  setCheck(() => new Promise(() => {}));
  await second();
  const startedMs = performance.now();
  await watch.ready();
  assert.ok(performance.now() - startedMs < 1000, 'it answers within a second');
  for (let i = 0; i < 3; i++) await second();
  assert.equal(watch.isUp(), false);
  await assert.rejects(watch.ready(), isNotReady('The database does not answer'));
  assert.equal(checks(), 2);
  assert.equal(lines(), 1);
});

test('a reason that the store gives for readiness is passed on', async () => {
  const { watch, setCheck, lines } = world();
  setCheck(() => Promise.reject(new AppError('not_ready', 'The disk is full')));
  await assert.rejects(watch.ready(), isNotReady('The disk is full'));
  assert.deepEqual([watch.isUp(), lines()], [true, 1], 'the database answers, and the reason is logged');
});

test('after damage was met the server is not ready, although the check succeeds', async () => {
  const { watch, outages } = world();
  await watch.ready();
  outages.report(new AppError('damaged', '/data/intelligence.db is damaged'));
  await assert.rejects(watch.ready(), isNotReady('The database is damaged'));
});

test('a process that was suspended does not report an outage of the database', async () => {
  const { watch, second, suspend, lines } = world();
  await second();
  suspend(60_000);
  await second();
  await watch.ready();
  assert.equal(lines(), 0);
});

test('after close there are no checks', async () => {
  const { watch, second, checks } = world();
  watch.close();
  await second();
  assert.equal(checks(), 0);
});
