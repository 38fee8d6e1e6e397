import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import type { SoftLimitEvent } from '../../src/audit/store.ts';
import { nextAttempt, sendDueEvents, signedHeaders, type WebhookEnd } from '../../src/audit/webhook.ts';
import { postUrl } from '../../src/ingest/sources/fetch.ts';
import { createGuard } from '../../src/ingest/sources/fetch-guard.ts';
import { temporaryControl } from '../temporary-control.ts';
import { auditEntry } from './audit-entry.ts';
import { type Received, startReceiver } from './receiver.ts';

const SECRET = '0123456789abcdef0123456789abcdef';
const TS = 1_792_022_400;
const EVENT: SoftLimitEvent = {
  id: '5b0c1d5e-0000-4000-8000-000000000001',
  sub: '10000001',
  username: 'ada@example.com',
  tier: 'gold',
  limit: 10,
  count: 12,
  month: 681,
  ts: TS,
};

/** A control store with one event that is due, and the sender of a node. */
async function withEvent(t: TestContext, url: string, { allowed = ['127.0.0.1'], timeoutMs = 5_000 } = {}) {
  const control = await temporaryControl(t);
  await control.addSoftLimitEvent(EVENT, TS, auditEntry({}));
  const ends: WebhookEnd[] = [];
  const stop = new AbortController();
  let nowTs = TS;
  const options = {
    store: control,
    secret: SECRET,
    post: (body: string, headers: Record<string, string>, signal: AbortSignal) =>
      postUrl(url, body, { guard: createGuard(allowed), headers, timeoutMs, signal }),
    now: () => nowTs,
    onEnd: (_: SoftLimitEvent, end: WebhookEnd) => void ends.push(end),
  };
  const send = (atTs: number) => {
    nowTs = atTs;
    return sendDueEvents(options, stop.signal);
  };
  return { ends, send, stop, control, outcomes: () => ends.map(({ outcome }) => outcome) };
}

test('an event is sent once, as signed JSON', async (t) => {
  const { received, url } = await startReceiver(t);
  const { send, outcomes } = await withEvent(t, url);
  await send(TS + 5);
  await send(TS + 9_999);
  assert.deepEqual(outcomes(), ['delivered']);
  const [{ method, path, headers, body }] = received as [Received];
  assert.deepEqual(
    [received.length, method, path, headers['content-type']],
    [1, 'POST', '/hook?key=1', 'application/json'],
  );
  assert.deepEqual(JSON.parse(body), {
    event: 'account.soft-limit',
    id: EVENT.id,
    ts: TS,
    sub: '10000001',
    username: 'ada@example.com',
    tier: 'gold',
    limit: 10,
    count: 12,
    month: '2026-10',
  });
  assert.equal(headers['urlwarden-timestamp'], `${TS + 5}`);
});

test('the example of the documentation accepts a signed request, and refuses any other', async () => {
  const page = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const [, source = assert.fail('there is no example')] = /```js\n(\/\/ verify-webhook\.mjs\n.*?)```/s.exec(page) ?? [];
  const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  const body = '{"event":"account.soft-limit"}';
  const headers = signedHeaders(SECRET, TS, body);
  assert.equal(isGenuine(SECRET, headers, body, TS + 60), true);
  assert.equal(isGenuine(SECRET, headers, body, TS + 301), false, 'sent again later');
  assert.equal(isGenuine(SECRET, headers, `${body} `, TS), false, 'another body');
  assert.equal(isGenuine(`${SECRET}x`, headers, body, TS), false, 'another secret');
  assert.equal(isGenuine(SECRET, { ...headers, 'urlwarden-timestamp': `${TS + 1}` }, body, TS), false, 'another time');
  assert.equal(isGenuine(SECRET, { 'urlwarden-timestamp': `${TS}` }, body, TS), false, 'no signature');
});

test('a refused event is sent again later, with the same id', async (t) => {
  const { received, url } = await startReceiver(t, [500, 302, 200]);
  const { send, outcomes, ends } = await withEvent(t, url);
  await send(TS);
  await send(TS + 29);
  assert.deepEqual([outcomes(), received.length], [['failed'], 1], 'not before its time');
  await send(TS + 30);
  await send(TS + 30 + 60);
  assert.deepEqual(outcomes(), ['failed', 'failed', 'delivered']);
  assert.match(
    String((ends[1] as { error: Error }).error),
    /127\.0\.0\.1:\d+ responded with 302/,
    'no redirect is followed',
  );
  assert.deepEqual(
    received.map(({ path, body }) => [path, JSON.parse(body).id]),
    Array(3).fill(['/hook?key=1', EVENT.id]),
  );
});

test('a receiver that does not respond is not waited for', async (t) => {
  const { url } = await startReceiver(t, ['hang']);
  const { send, ends } = await withEvent(t, url, { timeoutMs: 50 });
  await send(TS);
  assert.match(String((ends[0] as { error: Error }).error), /did not respond in time/);
});

test('nothing is sent to a private address that is not allowed', async (t) => {
  const { received, url } = await startReceiver(t);
  const { send, ends } = await withEvent(t, url, { allowed: [] });
  await send(TS);
  assert.match(String((ends[0] as { error: Error }).error), /blocked address \(loopback\)/);
  assert.deepEqual(received, []);
});

test('a stop ends an attempt, and the next process sends the event at once', async (t) => {
  const { received, url } = await startReceiver(t, ['hang']);
  const { send, stop, control } = await withEvent(t, url);
  const sending = send(TS);
  while (received.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort();
  await sending;
  assert.equal((await control.claimSoftLimitEvent(TS, TS + 60))?.id, EVENT.id);
});

test('attempts end after 20 hours', () => {
  const waits: number[] = [];
  for (let attempts = 1; ; attempts++) {
    const nextTs = nextAttempt(attempts, 0);
    if (nextTs === null) break;
    waits.push(nextTs);
  }
  assert.deepEqual(waits.slice(0, 4), [30, 60, 120, 240]);
  assert.deepEqual([waits.length, Math.max(...waits)], [13, 4 * 3_600]);
  assert.equal(Math.round(waits.reduce((sum, wait) => sum + wait, 0) / 3_600), 20);
});
