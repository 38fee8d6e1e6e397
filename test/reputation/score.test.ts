import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  dimensionsOf,
  isListed,
  listedUntil,
  type Piece,
  type ScoreInput,
  scoreOf,
} from '../../src/reputation/score.ts';

const NOW = 1_767_225_600;
const DAY = 86_400;

const inputOf = (pieces: Piece[], rest: Partial<ScoreInput> = {}): ScoreInput => ({
  pieces,
  trustOf: () => 0.9,
  isAbused: false,
  createdTs: null,
  rank: null,
  human: 0,
  ...rest,
});
const url = (ts = NOW): Piece => ({ source: 'urls', kind: 'url', ts });
const controller = (ts = NOW): Piece => ({ source: 'a', kind: 'botnetcc', ts });

for (const [days, points] of [
  [0, -18.1],
  [7, -14.1],
  [14, -10.6],
  [21, -7.9],
] as const) {
  test(`a malware URL last seen online ${days} days ago gives ${points}`, () => {
    assert.equal(dimensionsOf(inputOf([url(NOW - days * DAY)]), NOW).malware, points);
  });
}
for (const [days, points] of [
  [0, -28],
  [14, -23.8],
] as const) {
  test(`a botnet controller ${days} days ago gives ${points}`, () => {
    assert.equal(dimensionsOf(inputOf([controller(NOW - days * DAY)]), NOW).malware, points);
  });
}

test('a listing ends in the first second with a score above −10', () => {
  const input = inputOf([url()]);
  const until = listedUntil(input, NOW);
  const scoreAt = (ts: number) => scoreOf(dimensionsOf(input, ts));
  assert.ok(scoreAt(until - 1) <= -10 && scoreAt(until) > -10);
  assert.equal(isListed(input, scoreOf(dimensionsOf(input, NOW))), true);
});
