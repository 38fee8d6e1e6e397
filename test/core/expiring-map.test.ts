import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createExpiringMap } from '../../src/core/expiring-map.ts';

const MAX_ENTRIES = 4;
const LIFE_MS = 10;

const step = fc.record({
  key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  kind: fc.constantFrom('set', 'set', 'set', 'delete'),
  passMs: fc.nat(4),
});

test('entries are returned until they expire or are evicted, and their number is limited', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
      const map = createExpiringMap<number>({ maxEntries: MAX_ENTRIES, lifeMs: LIFE_MS });
      let model: { key: string; setMs: number }[] = [];
      let nowMs = 0;
      for (const { key, kind, passMs } of steps) {
        nowMs += passMs;
        model = model.filter((entry) => entry.key !== key);
        if (kind === 'set') {
          map.set(key, nowMs, nowMs);
          model = [...model, { key, setMs: nowMs }].slice(-MAX_ENTRIES);
        } else map.delete(key);
        for (const name of 'abcdef') {
          const entry = model.find(({ key, setMs }) => key === name && nowMs - setMs < LIFE_MS);
          assert.equal(map.get(name, nowMs), entry?.setMs);
        }
        assert.ok(map.size <= MAX_ENTRIES);
      }
    }),
  );
});

test('an entry of a clock that was ahead expires, and does not keep others from being evicted', () => {
  const map = createExpiringMap<number>({ maxEntries: MAX_ENTRIES, lifeMs: LIFE_MS });
  map.set('ahead', 1, 1_000);
  assert.equal(map.get('ahead', 1_000 - LIFE_MS + 1), 1, 'a clock that was set back a little');
  assert.equal(map.get('ahead', 1_000 - LIFE_MS), undefined);
  map.set('a', 1, 0);
  assert.equal(map.size, 1);
});

test('expired entries are removed when a new one is set', () => {
  const map = createExpiringMap<number>({ maxEntries: MAX_ENTRIES, lifeMs: LIFE_MS });
  for (const key of ['a', 'b', 'c']) map.set(key, 1, 0);
  map.set('d', 1, LIFE_MS);
  assert.equal(map.size, 1);
});
