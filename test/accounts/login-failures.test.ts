import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLoginFailures } from '../../src/accounts/login-failures.ts';

const HERE = { address: '192.0.2.1', pair: 'ada here', isKnown: false };

/** Tries once a `stepMs` and counts how many were judged. */
function judged(durationMs: number, stepMs: number, origin: (attempt: number) => typeof HERE): number {
  const failures = createLoginFailures();
  let count = 0;
  for (let nowMs = 0; nowMs < durationMs; nowMs += stepMs) {
    const from = origin(nowMs / stepMs);
    if (failures.waitMs(from, nowMs) > 0) continue;
    failures.count(from, nowMs);
    count++;
  }
  return count;
}

for (const { why, origin, perHour } of [
  { why: 'one pair: 10, then one a minute', origin: () => HERE, perHour: 10 + 59 },
  { why: 'one address: 20, then two a minute', origin: (i: number) => ({ ...HERE, pair: `${i}` }), perHour: 20 + 119 },
  { why: 'a known pair', origin: () => ({ ...HERE, isKnown: true }), perHour: 10 + 59 },
  {
    why: '50 addresses',
    origin: (i: number) => ({ address: `${i % 50}`, pair: `${i}`, isKnown: false }),
    perHour: 50 * (20 + 119),
  },
]) {
  test(`what an hour of wrong passwords amounts to: ${why}`, () => {
    assert.equal(judged(3_600_000, 20, origin), perHour);
  });
}

test('the wait that is told is the wait that is needed', () => {
  const failures = createLoginFailures();
  for (let i = 0; i < 10; i++) failures.count(HERE, i);
  const waitMs = failures.waitMs(HERE, 10);
  assert.equal(waitMs, 60_000 - 10);
  assert.equal(failures.waitMs(HERE, 10 + waitMs - 1), 1);
  assert.equal(failures.waitMs(HERE, 10 + waitMs), 0);
});

test('whoever fails elsewhere keeps nobody out', () => {
  const failures = createLoginFailures();
  for (let i = 0; i < 100; i++) failures.count({ address: `${i}`, pair: `ada ${i}`, isKnown: false }, 0);
  assert.equal(failures.waitMs(HERE, 0), 0);
});

test('whoever fails at the same address keeps strangers out, and no known pair', () => {
  const failures = createLoginFailures();
  for (let i = 0; i < 100; i++) failures.count({ ...HERE, pair: `${i}` }, 0);
  assert.ok(failures.waitMs(HERE, 0) > 0);
  assert.equal(failures.waitMs({ ...HERE, isKnown: true }, 0), 0);
});

test('a good login forgives the pair, not the address', () => {
  const failures = createLoginFailures();
  for (let i = 0; i < 20; i++) failures.count(HERE, 0);
  failures.forgive(HERE);
  assert.equal(failures.waitMs({ ...HERE, isKnown: true }, 0), 0);
  assert.equal(failures.waitMs({ ...HERE, pair: 'bob here' }, 0), 30_000);
});
