import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLoginPenalty } from '../../src/accounts/login-penalty.ts';

const WINDOW_MS = 600_000;

test('ten logins have no delay, the next are delayed, the thirtieth is refused', () => {
  const penalty = createLoginPenalty();
  const delays: number[] = [];
  while (penalty.refusedMs('ada', delays.length) === 0) delays.push(penalty.take('ada', delays.length).delayMs);
  const free = new Array(10).fill(0);
  assert.deepEqual(delays, [...free, 250, 500, 1_000, 2_000, 4_000, ...new Array(14).fill(8_000)]);
  assert.equal(delays.length, 29);
});

test('each login leaves the window after ten minutes', () => {
  const penalty = createLoginPenalty();
  for (let i = 0; i < 29; i++) penalty.take('ada', i * 1_000);
  assert.equal(penalty.refusedMs('ada', 29_000), WINDOW_MS - 29_000);
  assert.equal(penalty.refusedMs('ada', WINDOW_MS - 1), 1);
  assert.equal(penalty.refusedMs('ada', WINDOW_MS), 0);
  assert.equal(penalty.take('ada', WINDOW_MS).delayMs, 8_000);
  assert.equal(penalty.refusedMs('ada', WINDOW_MS), 1_000);
  assert.equal(penalty.take('ada', 2 * WINDOW_MS).delayMs, 0);
});

test('logins of one account do not count for another', () => {
  const penalty = createLoginPenalty();
  for (let i = 0; i < 29; i++) penalty.take('ada', 0);
  assert.equal(penalty.refusedMs('bob', 0), 0);
  assert.equal(penalty.take('bob', 0).delayMs, 0);
});

test('a refused login is not counted and has no delay', () => {
  const penalty = createLoginPenalty();
  assert.deepEqual(penalty.take('ada', 0), { refusedMs: 0, delayMs: 0 });
  for (let i = 1; i < 29; i++) penalty.take('ada', i);
  assert.deepEqual(penalty.take('ada', 100), { refusedMs: WINDOW_MS - 100, delayMs: 0 });
  assert.deepEqual(penalty.take('ada', WINDOW_MS - 1), { refusedMs: 1, delayMs: 0 });
  assert.deepEqual(penalty.take('ada', WINDOW_MS), { refusedMs: 0, delayMs: 8_000 });
});

test('100,000 accounts are kept, then the oldest is removed', () => {
  const penalty = createLoginPenalty();
  for (let i = 0; i < 29; i++) penalty.take('ada', 0);
  for (let i = 1; i < 100_000; i++) penalty.take(`${i}`, 0);
  assert.equal(penalty.refusedMs('ada', 0), WINDOW_MS);
  penalty.take('one more', 0);
  assert.equal(penalty.refusedMs('ada', 0), 0);
});
