import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { textOf } from './text.ts';

const feedLines = async (text: Promise<string>) =>
  (await text).split('\n').filter((line) => line.startsWith('urlwarden_feed_'));

test('every scrape shows the current feeds, without unknown values and removed feeds', async () => {
  const metrics = createMetrics();
  let feeds = [
    { name: 'a', lastSuccessTs: 1_767_225_600, rows: 12, failures: 0, isStale: false },
    { name: 'b', lastSuccessTs: null, rows: null, failures: 3, isStale: true },
  ];
  metrics.watchFeeds(async () => feeds);
  metrics.feedRan('a', 'imported');
  metrics.feedRan('a', 'imported');
  assert.deepEqual(await feedLines(textOf(metrics)), [
    'urlwarden_feed_runs_total{feed="a",outcome="imported"} 2',
    'urlwarden_feed_last_success_timestamp_seconds{feed="a"} 1767225600',
    'urlwarden_feed_rows{feed="a"} 12',
    'urlwarden_feed_failures{feed="a"} 0',
    'urlwarden_feed_failures{feed="b"} 3',
    'urlwarden_feed_stale{feed="a"} 0',
    'urlwarden_feed_stale{feed="b"} 1',
  ]);
  feeds = [];
  assert.equal((await feedLines(textOf(metrics))).length, 1);
});

test('the newest sighting of a URL has a row as soon as there is one', async () => {
  const metrics = createMetrics();
  let confirmedTs: number | null = null;
  metrics.watchData(async () => confirmedTs);
  const rows = async () => (await textOf(metrics)).match(/^urlwarden_data_.*$/gm) ?? [];
  assert.deepEqual(await rows(), []);
  confirmedTs = 1_767_225_600;
  assert.deepEqual(await rows(), ['urlwarden_data_confirmed_timestamp_seconds 1767225600']);
});

test('the other metrics are available while the database is down', async () => {
  const metrics = createMetrics();
  metrics.watchFeeds(async () => {
    throw new Error('down');
  });
  assert.match(await textOf(metrics), /process_cpu/);
});
