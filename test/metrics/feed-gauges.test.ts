import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../../src/metrics/metrics.ts';

const feedLines = async (text: Promise<string>) =>
  (await text).split('\n').filter((line) => line.startsWith('urlwarden_feed_'));

test('feeds are told as they are at every scrape; what is unknown or gone is left out', async () => {
  const metrics = createMetrics();
  let feeds = [
    { name: 'a', lastSuccessTs: 1_767_225_600, rows: 12, failures: 0, isStale: false },
    { name: 'b', lastSuccessTs: null, rows: null, failures: 3, isStale: true },
  ];
  metrics.watchFeeds(async () => feeds);
  metrics.feedRan('a', 'imported');
  metrics.feedRan('a', 'imported');
  assert.deepEqual(await feedLines(metrics.text()), [
    'urlwarden_feed_runs_total{feed="a",outcome="imported"} 2',
    'urlwarden_feed_last_success_timestamp_seconds{feed="a"} 1767225600',
    'urlwarden_feed_rows{feed="a"} 12',
    'urlwarden_feed_failures{feed="a"} 0',
    'urlwarden_feed_failures{feed="b"} 3',
    'urlwarden_feed_stale{feed="a"} 0',
    'urlwarden_feed_stale{feed="b"} 1',
  ]);
  feeds = [];
  assert.equal((await feedLines(metrics.text())).length, 1);
});

test('a store that is away does not take the other metrics with it', async () => {
  const metrics = createMetrics();
  metrics.watchFeeds(async () => {
    throw new Error('away');
  });
  assert.match(await metrics.text(), /process_cpu/);
});
