import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { feedOf } from '../ingest/feeds/feed-of.ts';
import { temporaryControl } from '../temporary-control.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { startUrlwarden, urlwarden } from './urlwarden.ts';

test('serve fetches its feeds, reports their states, and aborts a download when it begins to stop', async (t) => {
  const listSent = Promise.withResolvers<void>();
  const slowRequested = Promise.withResolvers<ServerResponse>();
  let dripping: NodeJS.Timeout | undefined;
  t.after(() => clearInterval(dripping));
  const publisher = createServer((request, response) => {
    if (request.url === '/list') return response.end('http://192.0.2.1/a\n', () => listSent.resolve());
    dripping = setInterval(() => response.write('h'), 20); // never ends, and does not hold up the others
    slowRequested.resolve(response);
  }).listen(0, '127.0.0.1');
  await once(publisher, 'listening');
  t.after(() => {
    publisher.closeAllConnections();
    publisher.close();
  });
  const at = (path: string) => `http://127.0.0.1:${(publisher.address() as AddressInfo).port}${path}`;
  const dataDir = temporaryFolder(t);
  const control = await temporaryControl(t, dataDir);
  await control.addFeed(feedOf({ name: 'good', nextRunTs: 2, url: at('/list'), allowsPrivate: true }));
  await control.addFeed(feedOf({ name: 'late', nextRunTs: 1, url: at('/late'), allowsPrivate: false }));
  await control.addFeed(feedOf({ name: 'slow', nextRunTs: 0, url: at('/slow'), allowsPrivate: true }));

  const flags = ['--port', '0', '--metrics-port', '0', '--data', dataDir, '--feeds-allow-private', '127.0.0.0/8'];
  const child = startUrlwarden(['serve', ...flags, '--stop-grace-seconds', '60']);
  t.after(() => child.kill('SIGKILL'));
  const output = await linesUntil(child.stdout, /Metrics: /);
  const slow = await slowRequested.promise;
  await listSent.promise;
  const url = /answers on (\S+)/.exec(output)?.[1];
  const metricsUrl = /Metrics: (\S+)/.exec(output)?.[1];
  assert.ok(url && metricsUrl);
  const states = async () => {
    const ready = (await (await fetch(`${url}/readyz?verbose`)).json()) as { feeds: { name: string; state: string }[] };
    return ready.feeds.map(({ name, state }) => `${name} ${state}`);
  };
  while ((await states())[0] !== 'good ok') await setTimeout(20);
  assert.deepEqual(await states(), ['good ok', 'late failing', 'slow stale']);
  const metrics = await (await fetch(metricsUrl)).text();
  assert.match(metrics, /^urlwarden_feed_rows\{feed="good"\} 1$/m);
  assert.match(metrics, /^urlwarden_data_confirmed_timestamp_seconds \d+$/m);
  assert.match(metrics, /^urlwarden_feed_runs_total\{feed="late",outcome="failed"\} 1$/m);
  assert.match(metrics, /^urlwarden_feed_stale\{feed="slow"\} 1$/m);

  child.kill('SIGTERM');
  await once(slow, 'close');
  assert.equal((await fetch(`${url}/healthz`)).status, 200, 'it still answers');
  child.kill('SIGINT');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
  const { nextRunTs, failures, lastError } = (await control.feed('slow')) ?? assert.fail();
  assert.deepEqual([nextRunTs, failures, lastError], [0, 0, null], 'the feed is due at the next start');
  assert.equal(await control.leaseFeed('slow', 'next', { nowTs: 1, untilTs: 2 }), true, 'its lease was released');
});

test('serve reports a missing table of networks, and has not created the first account yet', async (t) => {
  const dataDir = temporaryFolder(t);
  const flags = ['--port', '0', '--metrics-port', 'off', '--data', dataDir];
  const { code, stderr } = await urlwarden(['serve', ...flags, '--asn-db', '/nowhere.mmdb']);
  assert.equal(code, 1);
  assert.match(stderr, /^The ASN table \/nowhere\.mmdb does not exist: check --asn-db$/m);
  assert.deepEqual(await (await temporaryControl(t, dataDir)).accounts(), []);
});

async function linesUntil(stream: AsyncIterable<Buffer>, wanted: RegExp): Promise<string> {
  let text = '';
  for await (const chunk of stream) {
    text += chunk;
    if (wanted.test(text)) return text;
  }
  throw new Error(`the server ended before it was ready: ${text}`);
}
