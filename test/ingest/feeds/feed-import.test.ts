import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { openIntelligence } from '../../../src/app/stores.ts';
import { parseKeyNetwork } from '../../../src/core/ip/key-network.ts';
import { createImportFeed, type FeedImportOptions } from '../../../src/ingest/feeds/feed-import.ts';
import { openNetworks } from '../../../src/ingest/networks.ts';
import { INPUT_LIMITS } from '../../../src/ingest/sources/format.ts';
import { temporaryControl } from '../../temporary-control.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { factsOf } from '../../urls/contract/observations.ts';
import { newestEventOf } from '../../urls/results.ts';
import { mmdbOf } from '../mmdb.ts';
import { feedOf } from './feed-of.ts';

const NOW = 1_767_225_600;
const LIST = 'http://192.0.2.1/a\nhttp://192.0.2.1/b\nhttp://198.51.100.1/c\n';

async function open(t: TestContext, answer: RequestListener, given: Partial<FeedImportOptions> = {}) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const dataDir = temporaryFolder(t);
  const store = await openIntelligence({ dataDir });
  t.after(() => store.close());
  const control = await temporaryControl(t, dataDir);
  const allowedNetworks = ['127.0.0.0/8'];
  const options = {
    store,
    control,
    networks: openNetworks(null),
    allowedNetworks,
    resolvesHosts: false,
    allowReserved: true,
    limits: INPUT_LIMITS,
    now: () => NOW,
  };
  const run = createImportFeed({ ...options, ...given });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/list`;
  const feed = feedOf({ url, allowsPrivate: true });
  const signal = new AbortController().signal;
  return {
    store,
    control,
    feed,
    run: (changes: Partial<typeof feed> = {}) => run({ ...feed, ...changes }, signal),
    runUntil: run,
  };
}

describe('the import of a feed', () => {
  test('imports rows with their AS numbers, and sends a conditional request the next time', async (t) => {
    const file = join(temporaryFolder(t), 'asn.mmdb');
    writeFileSync(file, mmdbOf({ '192.0.2.0/24': { autonomous_system_number: 64500 } }));
    const { store, control, run } = await open(
      t,
      (request, response) => {
        if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end();
        else response.writeHead(200, { etag: '"1"', 'content-length': LIST.length }).end(LIST);
      },
      { networks: openNetworks(file) },
    );
    const validators = { etag: '"1"', lastModified: null };
    assert.deepEqual(await run(), { outcome: 'imported', rows: 3, validators });
    assert.ok(await store.urlId('http://192.0.2.1/a'));
    const bounds = { limit: 9, signal: new AbortController().signal };
    const facts = [];
    for await (const lines of store.search({ by: 'asn', asn: 64500 }, { since: 0, until: NOW }, bounds))
      facts.push(...factsOf(lines));
    assert.equal(facts.length, 2);
    assert.deepEqual(await run(validators), { outcome: 'not_modified' });
    const [first, ...others] = await control.imports({ feed: 'f', limit: 9 });
    assert.deepEqual([first?.outcome, others.length], ['done', 0]);
  });

  test('the trust of a feed counts after each run, also if the publisher has nothing new', async (t) => {
    const { store, control, feed, run } = await open(t, (request, response) => {
      if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end();
      else response.writeHead(200, { etag: '"1"' }).end(`{"ts":${NOW},"ip":"192.0.2.7","dataset":"CSS"}\n`);
    });
    const network = parseKeyNetwork('192.0.2.7');
    assert.ok(network !== null);
    const query = { network, inside: true, covering: false, datasets: ['CSS'], seenSinceTs: 0 } as const;
    const trusts = async () => (await store.listings(query)).map(({ source }) => source.trustPermille);
    const list = { ...feed, format: 'ndjson', trustPermille: 300 } as const;
    await control.addFeed(list);
    assert.equal((await run(list)).outcome, 'imported');
    assert.deepEqual(await trusts(), [300]);
    assert.equal((await run({ ...list, trustPermille: 500, etag: '"1"' })).outcome, 'not_modified');
    assert.deepEqual(await trusts(), [500]);
  });

  test('evidence counts for the feed, also if its publisher names another source', async (t) => {
    const names = ['', ',"feed":"operator"', ',"feed":"trusted"'];
    const { store, control, feed, run } = await open(t, (_request, response) => {
      response.end(names.map((name, i) => `{"ts":${NOW},"ip":"192.0.2.${i}","dataset":"CSS"${name}}\n`).join(''));
    });
    const list = { ...feed, format: 'ndjson', trustPermille: 300 } as const;
    await control.addFeed(list);
    await control.addFeed({ ...feed, name: 'trusted', trustPermille: 1_000 });
    assert.equal((await run(list)).outcome, 'imported');
    const network = parseKeyNetwork('192.0.2.0/24');
    assert.ok(network !== null);
    const found = await store.listings({ network, inside: true, covering: false, seenSinceTs: 0, datasets: ['CSS'] });
    assert.deepEqual(
      found.map(({ source }) => [source.name, source.trustPermille]),
      names.map(() => [feed.name, 300]),
    );
  });

  test('a list without times renews its listings although it is the same as before; a list of networks is not fetched again', async (t) => {
    let ts = NOW;
    const { store, control, feed, run } = await open(
      t,
      (request, response) => {
        if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end();
        else response.writeHead(200, { etag: '"1"' }).end('192.0.2.7\n');
      },
      { now: () => ts },
    );
    const network = parseKeyNetwork('192.0.2.7');
    assert.ok(network !== null);
    const list = { ...feed, format: 'ip-list', dataset: 'XBL', etag: '"1"' } as const;
    await control.addFeed(list);
    for (; ts < NOW + 20 * 86_400; ts += 86_400) assert.equal((await run(list)).outcome, 'imported');
    const query = { network, inside: true, covering: false, datasets: ['XBL'], seenSinceTs: 0 } as const;
    const times = (await store.listings(query)).map(({ listedTs, seenTs }) => [listedTs, seenTs]);
    assert.deepEqual(times, [[NOW, NOW + 19 * 86_400]]);
    assert.equal((await run({ ...list, dataset: null, listKind: 'shared' })).outcome, 'not_modified');
  });

  test('a feed without allowsPrivate is not fetched from an allowed private network', async (t) => {
    const { run } = await open(t, (_request, response) => response.end(LIST));
    await assert.rejects(run({ allowsPrivate: false }), /loopback.*--feeds-allow-private/);
  });

  test('a complete listing that takes most URLs offline is a failure', async (t) => {
    let [body, ts] = [LIST, NOW];
    const { run, store } = await open(t, (_request, response) => response.end(body), { now: () => ts });
    await run({ isComplete: true });
    [body, ts] = ['http://192.0.2.1/a\n', NOW + 60];
    await assert.rejects(run({ isComplete: true }), { code: 'bad_request' });
    assert.equal((await newestEventOf(store, 'http://192.0.2.1/b'))?.status, 'added');
  });

  test('a list that lost most of its entries is a failure, and keeps them', async (t) => {
    let [rows, ts] = [1_000, NOW];
    const { run, store } = await open(
      t,
      (_request, response) =>
        response.end(Array.from({ length: rows }, (_, i) => `198.18.${i >> 8}.${i & 255}\n`).join('')),
      { now: () => ts },
    );
    const list = { format: 'ip-list', listKind: 'shared' } as const;
    await run(list);
    [rows, ts] = [10, NOW + 60];
    const message =
      /^The list would delete 990 of the 1000 entries of .*, more than half\..* run it again with --force\.$/;
    await assert.rejects(run(list), { code: 'bad_request', message });
    assert.equal((await store.addressLists()).entries.length, 1_000);
  });

  test('a response without any usable row is a failure', async (t) => {
    const { run } = await open(t, (_request, response) => response.end('<html>\n<p>Log in\n</html>\n'));
    const message =
      /^None of the 3 rows could be used\. This is an HTML page, .* Check the URL, the key .* urlwarden import rejects 1$/;
    await assert.rejects(run(), { code: 'bad_request', message });
  });

  test('a response without rows is a failure, unless it is a list that says itself that it is empty', async (t) => {
    let body = '';
    const { run, control } = await open(t, (_request, response) => response.end(body));
    const empty = /^The source is empty\. Check the URL, the key and the format\.$/;
    await assert.rejects(run(), { code: 'bad_request', message: empty });
    await assert.rejects(run({ isComplete: true }), /^AppError: The source is empty\. No URL was taken offline\./);
    await assert.rejects(run({ format: 'feodo-json' }), /: The source is empty\.$/);
    assert.deepEqual(
      (await control.imports({ limit: 10 })).map(({ outcome }) => outcome),
      ['failed', 'failed', 'failed'],
    );
    body = '{"query_status": "unknown_auth_key"}';
    await assert.rejects(
      run({ format: 'threatfox-json' }),
      /nothing in the source that the format threatfox-json uses/,
    );
    for (const [format, text] of [
      ['feodo-json', '[]\n'],
      ['stix', '{"type":"bundle","id":"bundle--1","objects":[]}'],
      ['threatfox-json', '{"query_status":"ok","data":[]}'],
      ['feodo-csv', '# Feodo Tracker\nfirst_seen_utc,dst_ip,dst_port,c2_status,last_online,malware\n# END 0 entries\n'],
    ] as const) {
      body = text;
      assert.equal((await run({ format })).outcome, 'imported', format);
    }
  });

  test('a feed of another format is a failure that names the format', async (t) => {
    const { run } = await open(t, (_request, response) => response.end(LIST));
    const advice =
      /^None of the 3 rows .* looks like url-list, not urlhaus-csv\. Remove the feed and add it again with --format url-list\./;
    await assert.rejects(run({ format: 'urlhaus-csv' }), { message: advice });
  });

  test('a truncated response is a failure', async (t) => {
    const { run } = await open(t, (_request, response) => {
      response.writeHead(200, { 'content-length': 999 }).write(LIST, () => response.destroy());
    });
    await assert.rejects(run(), /closed the connection before the end/);
  });

  test('a publisher that sends a byte from time to time is a failure, in bounded time', async (t) => {
    const { run } = await open(
      t,
      (_request, response) => {
        const timer = setInterval(() => response.write('h'), 20);
        response.on('close', () => clearInterval(timer));
      },
      { fetchLimits: { idleTimeoutMs: 200 } },
    );
    await assert.rejects(run(), { code: 'timed_out', message: /sends it too slowly: try again later$/ });
  });

  test('the manifest of a MISP feed leads to no other folder or host', async (t) => {
    const id = '8e0c1f3a-0000-4000-8000-000000000001';
    const requested: string[] = [];
    const event = { Event: { Attribute: [{ type: 'url', value: 'http://192.0.2.1/', timestamp: '1752760000' }] } };
    const { run, control, feed } = await open(t, ({ url = '' }, response) => {
      requested.push(url);
      response.end(url.endsWith('/manifest.json') ? JSON.stringify(manifest) : JSON.stringify(event));
    });
    const outside = [
      '../secret',
      `../${id}`,
      `${id}/../../secret`,
      '..\\secret',
      '%2e%2e/secret',
      '..%2fsecret',
      `/${id}`,
      `//${new URL(feed.url).host}/x`,
      `${new URL('/x', feed.url)}`,
      'http://[::1]/x',
      'file:///etc/passwd',
      `${id}?x`,
      `${id}#`,
      `${id}\r\nHost: a`,
      `${id}\0`,
      ` ${id}`,
      '',
      '.',
      '..',
    ];
    const manifest = Object.fromEntries([id, ...outside].map((key) => [key, {}]));
    const url = `${new URL('/feed/manifest.json', feed.url)}`;
    assert.equal((await run({ url, format: 'misp' })).outcome, 'imported');
    assert.deepEqual(requested, ['/feed/manifest.json', `/feed/${id}.json`]);
    const [report] = await control.imports({ feed: 'f', limit: 1 });
    assert.equal(report?.counts.rejected, outside.length);
  });

  test('an event of a MISP feed that is gone is a reject; one that cannot be reached ends the import', async (t) => {
    const [gone, there] = ['8e0c1f3a-0000-4000-8000-000000000001', '8e0c1f3a-0000-4000-8000-000000000002'];
    const event = { Event: { Attribute: [{ type: 'url', value: 'http://192.0.2.1/', timestamp: '1752760000' }] } };
    let status = 404;
    const { run, control, feed } = await open(t, ({ url = '' }, response) => {
      if (url.includes(gone)) response.writeHead(status).end();
      else response.end(JSON.stringify(url.includes(there) ? event : { [gone]: {}, [there]: {} }));
    });
    const misp = { url: `${new URL('/feed/manifest.json', feed.url)}`, format: 'misp' };
    assert.equal((await run(misp)).outcome, 'imported');
    const [report] = await control.imports({ feed: 'f', limit: 1 });
    assert.deepEqual([report?.counts.rejected, report?.counts.observations], [1, 1]);
    status = 503;
    await assert.rejects(run(misp), /responded with 503/);
  });

  test('an unknown format is an error', async (t) => {
    const { run } = await open(t, (_request, response) => response.end());
    await assert.rejects(run({ format: 'old' }), /Unknown format "old": remove the feed f/);
  });

  test('can be aborted during the download', async (t) => {
    const stop = new AbortController();
    const { runUntil, feed } = await open(t, (_request, response) => {
      response.write(LIST, () => stop.abort());
    });
    assert.deepEqual(await runUntil(feed, stop.signal), { outcome: 'stopped' });
  });
});
