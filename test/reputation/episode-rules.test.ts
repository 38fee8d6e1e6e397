import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type Episode, lifeOf, mergeEpisodes, recordedOperation } from '../../src/reputation/episode-rules.ts';

const LIFE = 7;
const at = (ts: number, details = '', fromTs = ts): Episode => ({ listedTs: fromTs, seenTs: ts, details });

describe('episodes', () => {
  for (const [what, evidence, episodes] of [
    ['a gap of the life joins', [at(1), at(8)], [at(8, '', 1)]],
    ['a longer gap does not', [at(1), at(9)], [at(1), at(9)]],
    ['evidence between two episodes joins them', [at(1), at(15), at(8)], [at(15, '', 1)]],
    ['an interval has no gap inside', [at(50, '', 1), at(20)], [at(50, '', 1)]],
    ['details are those of the newest evidence', [at(3, 'new'), at(1, 'old')], [at(3, 'new', 1)]],
    ['of one second, the greater details', [at(3, 'a'), at(3, 'b')], [at(3, 'b')]],
    ['of one second, in the other order', [at(3, 'b'), at(3, 'a')], [at(3, 'b')]],
  ] as const) {
    test(what, () => assert.deepEqual(mergeEpisodes([], evidence, LIFE), episodes));
  }

  const evidence = fc.array(
    fc.record({ ts: fc.integer({ min: 0, max: 60 }), length: fc.nat(10), details: fc.constantFrom('', 'a', 'b') }),
    { maxLength: 12 },
  );

  test('are the same in any order and in any batches, and after a repetition', () => {
    fc.assert(
      fc.property(evidence, fc.array(fc.nat()), fc.nat(12), (records, order, cut) => {
        const all = records.map(({ ts, length, details }) => at(ts + length, details, ts));
        const shuffled = all.map((one, i) => [order[i] ?? i, one] as const).sort(([a], [b]) => a - b);
        const other = shuffled.map(([, one]) => one);
        const expected = mergeEpisodes([], all, LIFE);
        const first = mergeEpisodes([], other.slice(0, cut), LIFE);
        assert.deepEqual(mergeEpisodes(first, other.slice(cut), LIFE), expected);
        assert.deepEqual(mergeEpisodes(expected, all, LIFE), expected);
      }),
    );
  });
});

test('a network of a DROP list lives three intervals of its feed at least; others live as long as their dataset says', () => {
  const DAY = 86_400;
  const weekly = { lifeSeconds: null, intervalSeconds: 7 * DAY };
  assert.deepEqual(
    (['XBL', 'CSS', 'BCL', 'DROP'] as const).map((dataset) => lifeOf(weekly, dataset) / DAY),
    [7, 3, 7, 21],
  );
  assert.equal(lifeOf({ lifeSeconds: null, intervalSeconds: 60 }, 'DROP'), 3 * DAY);
  assert.equal(lifeOf({ lifeSeconds: null, intervalSeconds: null }, 'DROP'), 3 * DAY);
  assert.equal(lifeOf({ lifeSeconds: 60, intervalSeconds: 7 * DAY }, 'DROP'), 60);
});

test('the change feed records what the newest episode becomes', () => {
  for (const [what, known, merged, operation] of [
    ['the first', [], [at(5)], 'add'],
    ['an older one', [at(30, '', 20), at(9, '', 1)], [at(12, '', 1), at(30, '', 20)], null],
    ['a newer one', [at(9, '', 1)], [at(9, '', 1), at(20)], 'update'],
    ['joined ones', [at(1), at(8)], [at(8, '', 1)], 'update'],
    ['within the same hour', [at(3_000, '', 0)], [at(3_599, '', 0)], null],
    ['in another hour', [at(3_000, '', 0)], [at(3_600, '', 0)], 'update'],
  ] as const) {
    assert.equal(recordedOperation(known, merged), operation, what);
  }
});
