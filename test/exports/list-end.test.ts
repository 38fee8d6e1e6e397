import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createListEnd } from '../../src/exports/list-end.ts';

const NOW = 1_000_000;
const DAY = 86_400;

function earliestOf(...ends: number[]): number | null {
  const end = createListEnd(NOW);
  for (const endTs of ends) end.whenNot((ts) => ts < endTs);
  return end.earliest();
}

test('the end of a list is the first second at which a condition does not hold', () => {
  assert.equal(earliestOf(), null);
  assert.equal(earliestOf(NOW + 500, NOW + 77, NOW + 78, NOW + 76), NOW + 76);
  assert.equal(earliestOf(NOW + 500, NOW + 1, NOW + 2), NOW + 1);
  assert.equal(earliestOf(NOW + 30 * DAY), NOW + 30 * DAY);
  assert.equal(earliestOf(NOW + 30 * DAY + 1), null);
  for (let seconds = 1; seconds <= 20; seconds++) assert.equal(earliestOf(NOW + seconds), NOW + seconds);
});

test('a time that is known counts if it is in the future, and the earliest', () => {
  const end = createListEnd(NOW);
  for (const ts of [null, NOW - 1, NOW]) end.at(ts);
  assert.equal(end.earliest(), null);
  for (const ts of [NOW + 10, NOW + 9, NOW + 11, null, NOW]) end.at(ts);
  assert.equal(end.earliest(), NOW + 9);
});

test('conditions that end together are searched once', () => {
  const end = createListEnd(NOW);
  let queries = 0;
  const holds = (ts: number) => {
    queries++;
    return ts < NOW + 5_000;
  };
  end.whenNot(holds);
  const first = queries;
  for (let i = 0; i < 10; i++) end.whenNot(holds);
  assert.equal(queries - first, 10);
});
