import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLoginFailures } from '../../src/accounts/login-failures.ts';

const HERE = { address: '192.0.2.1', pair: 'ada here', isKnown: false };

/** Tries once per `stepMs` and returns how many attempts were allowed. */
function allowed(durationMs: number, stepMs: number, origin: (attempt: number) => typeof HERE): number {
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
  { why: 'a known pair: 10, then one a minute', origin: () => ({ ...HERE, isKnown: true }), perHour: 10 + 59 },
  {
    why: '50 addresses: 50 times the limit of an address',
    origin: (i: number) => ({ address: `${i % 50}`, pair: `${i}`, isKnown: false }),
    perHour: 50 * (20 + 119),
  },
]) {
  test(`attempts allowed in an hour of wrong passwords: ${why}`, () => {
    assert.equal(allowed(3_600_000, 20, origin), perHour);
  });
}

test('an attempt is allowed exactly after the returned wait', () => {
  const failures = createLoginFailures();
  for (let i = 0; i < 10; i++) failures.count(HERE, i);
  const waitMs = failures.waitMs(HERE, 10);
  assert.equal(waitMs, 60_000 - 10);
  assert.equal(failures.waitMs(HERE, 10 + waitMs - 1), 1);
  assert.equal(failures.waitMs(HERE, 10 + waitMs), 0);
});

test('failures at other addresses do not limit a pair', () => {
  const failures = createLoginFailures();
  for (let i = 0; i < 100; i++) failures.count({ address: `${i}`, pair: `ada ${i}`, isKnown: false }, 0);
  assert.equal(failures.waitMs(HERE, 0), 0);
});

test('failures at the same address limit unknown pairs only', () => {
  const failures = createLoginFailures();
  for (let i = 0; i < 100; i++) failures.count({ ...HERE, pair: `${i}` }, 0);
  assert.ok(failures.waitMs(HERE, 0) > 0);
  assert.equal(failures.waitMs({ ...HERE, isKnown: true }, 0), 0);
});

test('a successful login clears the failures of the pair, not of the address', () => {
  const failures = createLoginFailures();
  for (let i = 0; i < 20; i++) failures.count(HERE, 0);
  failures.clearPair(HERE);
  assert.equal(failures.waitMs({ ...HERE, isKnown: true }, 0), 0);
  assert.equal(failures.waitMs({ ...HERE, pair: 'bob here' }, 0), 30_000);
});

test('a pair without failures for a long time starts again at zero, not below', () => {
  const failures = createLoginFailures();
  failures.count(HERE, 0);
  for (let i = 0; i < 10; i++) failures.count(HERE, 100_000);
  assert.equal(failures.waitMs({ ...HERE, isKnown: true }, 100_000), 60_000);
});

test('100,000 pairs are kept, then the oldest is removed', () => {
  const failures = createLoginFailures();
  for (let i = 0; i < 10; i++) failures.count(HERE, 0);
  const ada = { ...HERE, isKnown: true };
  for (let i = 1; i < 100_000; i++) failures.count({ address: 'elsewhere', pair: `${i}`, isKnown: false }, 0);
  assert.equal(failures.waitMs(ada, 0), 60_000);
  failures.count({ address: 'elsewhere', pair: 'one more', isKnown: false }, 0);
  assert.equal(failures.waitMs(ada, 0), 0);
});
