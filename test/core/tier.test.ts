import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILT_IN_TIERS, limitsOf, NO_LIMIT, type Tier } from '../../src/core/tier.ts';

const rates = (tier: Tier | undefined) => {
  assert.ok(tier);
  const { qms, qmh, rlQph, rlQpm, rlQps } = limitsOf(tier);
  return [qms, qmh, rlQph, rlQpm, rlQps];
};

for (const { name, expect } of [
  { name: 'developer', expect: [5_000, 5_000, 664, 166, 21] },
  { name: 'standard', expect: [100_000, 150_000, 20_000, 5_000, 625] },
  { name: 'enterprise', expect: [10_000_000, 15_000_000, 2_000_000, 500_000, 62_500] },
  { name: 'operator', expect: [NO_LIMIT, NO_LIMIT, NO_LIMIT, NO_LIMIT, NO_LIMIT] },
]) {
  test(`the limits of the built-in tier ${name}`, () => {
    assert.deepEqual(rates(BUILT_IN_TIERS.find((tier) => tier.name === name)), expect);
  });
}

test('a rate that is set takes precedence over the derived rate', () => {
  const tier = { name: 'x', trs: 'base', ads: ['URL'], qms: 1, qmh: 3_000, rlQps: 7, rlQpm: null, rlQph: 9 };
  assert.deepEqual(rates(tier), [1, 3_000, 9, 100, 7]);
});

test('the smallest tier can still send requests', () => {
  const tier = { name: 'x', trs: 'base', ads: ['URL'], qms: 1, qmh: 1, rlQps: null, rlQpm: null, rlQph: null };
  assert.deepEqual(rates(tier), [1, 1, 4, 1, 1]);
});

test('rates are rounded down, and NO_LIMIT is the greatest signed 32-bit number', () => {
  const tier = { name: 'x', trs: 'base', ads: ['URL'], qms: 1, qmh: 121, rlQps: null, rlQpm: null, rlQph: null };
  assert.deepEqual(rates(tier), [1, 121, 16, 4, 1]);
  assert.equal(NO_LIMIT, 2 ** 31 - 1);
});
