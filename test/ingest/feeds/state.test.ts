import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageState } from '../../../src/ingest/feeds/feed-state.ts';
import type { Feed } from '../../../src/ingest/store.ts';
import { feedOf } from './feed-of.ts';

const NOW = 1_000_000;
const HOUR = 3_600;

const CASES: [state: string, feed: Partial<Feed>][] = [
  ['new', { lastSuccessTs: null, nextRunTs: NOW }],
  ['healthy', { lastSuccessTs: NOW - 3 * HOUR }],
  ['failing', { lastSuccessTs: NOW - HOUR, failures: 1 }],
  ['late', { lastSuccessTs: NOW - 3 * HOUR - 1, failures: 3 }],
  ['late', { lastSuccessTs: null, nextRunTs: NOW - 3 * HOUR - 1 }],
  ['paused', { lastSuccessTs: NOW - 99 * HOUR, isPaused: true }],
];

test('the state of a feed for a page', () => {
  for (const [state, feed] of CASES) {
    assert.equal(pageState({ ...feedOf({ intervalSeconds: HOUR }), ...feed }, NOW), state, JSON.stringify(feed));
  }
});
