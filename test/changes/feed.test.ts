import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFeed, type FeedServices, type StreamQuery } from '../../src/changes/feed.ts';

const ALL: StreamQuery = { after: 0, asked: async () => ({ urls: true, datasets: [], domains: true }) };

/** A feed of a store without changes. */
function quietFeed(times: Parameters<typeof createFeed>[1]) {
  const store: FeedServices['store'] = {
    newestChange: () => 0,
    oldestCursor: async () => 0,
    changesAfter: async () => ({ changes: [], lastSeq: 0 }),
  };
  const views: FeedServices['views'] = { listings: async () => async () => null, domain: async () => null };
  return createFeed({ store, views, isStopping: () => false }, times);
}

async function read(events: AsyncIterable<string>): Promise<string[]> {
  const texts: string[] = [];
  for await (const text of events) texts.push(text);
  return texts;
}

test('a stream without changes sends a comment at once and then as a heartbeat, and ends after its time', async () => {
  const { signal } = new AbortController();
  const { events } = quietFeed({ pollMs: 5, heartbeatMs: 50, maxMs: 300 });
  const texts = await read(events(ALL, signal));
  assert.deepEqual(new Set(texts), new Set([':\nid: 0\n\n']));
  assert.ok(texts.length >= 2 && texts.length <= 7, `${texts.length}`);
});

test('a stream whose reader has left ends', async () => {
  const { events } = quietFeed({ pollMs: 5, heartbeatMs: 50, maxMs: 60_000 });
  const left = new AbortController();
  const reading = read(events(ALL, left.signal));
  left.abort(new Error('the reader has left'));
  await assert.rejects(reading, /the reader has left|aborted/);
});

test('a stream whose reader may no longer see anything ends', async () => {
  const { events } = quietFeed({ pollMs: 5, heartbeatMs: 10, maxMs: 60_000 });
  let isAllowed = true;
  const asked = async () => (isAllowed ? ALL.asked() : null);
  const stream = events({ after: 0, asked }, new AbortController().signal);
  assert.deepEqual(await stream.next(), { value: ':\nid: 0\n\n', done: false });
  isAllowed = false;
  assert.deepEqual(await stream.next(), { value: undefined, done: true });
});
