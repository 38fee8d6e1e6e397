import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { openIntelligence } from '../../src/app/stores.ts';
import { paths } from '../../src/core/paths.ts';
import { urlhausDump } from '../../tools/shared/urlhaus-dump.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { newestEventOf } from '../urls/results.ts';
import { onTerminal } from './on-terminal.ts';
import { startReusedServer, tokenOf } from './server.ts';
import { urlwarden } from './urlwarden.ts';

const URL = 'http://a.example/';
/** A server must answer with the data of another process's import within this time. */
const CURRENT_MS = 1_000;
const RETRY_MS = 20;

function csvOf(time: string, status: string): string {
  return `id,dateadded,url,url_status,threat,tags,urlhaus_link\n"1","${time}","${URL}","${status}","","",""\n`;
}

test('a running server answers with newly imported data within a second, also for a URL it has answered before', async (t) => {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, 'data');
  const account = { username: 'ada', password: 'secret' };
  assert.equal((await urlwarden(['account', 'add', 'ada', '--data', dataDir], 'secret\n')).code, 0);
  const { url } = await startReusedServer(t, ['--data', dataDir]);
  const headers = { authorization: `Bearer ${await tokenOf(url, account)}` };
  const lastStatus = async () => {
    const response = await fetch(url + paths.urlLast, { method: 'POST', headers, body: JSON.stringify({ url: URL }) });
    const { status } = (await response.json()) as { status?: { status: string } };
    return status?.status ?? response.status;
  };
  const importFile = async (csv: string) => {
    writeFileSync(join(folder, 'dump.csv'), csv);
    const { code, stderr } = await urlwarden(['import', 'urlhaus-csv', join(folder, 'dump.csv'), '--data', dataDir]);
    assert.equal(code, 0, stderr);
  };
  const expectSoon = async (wanted: string) => {
    const untilMs = performance.now() + CURRENT_MS;
    while (performance.now() < untilMs) {
      if ((await lastStatus()) === wanted) return;
      await sleep(RETRY_MS);
    }
    assert.equal(await lastStatus(), wanted, `not within ${CURRENT_MS} ms`);
  };

  assert.equal(await lastStatus(), 404);
  await importFile(csvOf('2026-01-01 00:00:00', 'online'));
  await expectSoon('online');
  await importFile(csvOf('2026-01-02 00:00:00', 'offline'));
  await expectSoon('offline');
});

test('a download is imported from a private network that --feeds-allow-private allows', async (t) => {
  const publisher = createServer((_request, response) => {
    response.end(gzipSync(csvOf('2026-01-01 00:00:00', 'online')));
  }).listen(0, '127.0.0.1');
  await once(publisher, 'listening');
  t.after(() => publisher.close());
  const from = `http://127.0.0.1:${(publisher.address() as AddressInfo).port}/dump.csv.gz`;
  const dataDir = temporaryFolder(t);
  const args = ['import', 'urlhaus-csv', from, '--data', dataDir, '--feeds-allow-private', '127.0.0.0/8'];
  const { code, stdout, stderr } = await urlwarden(args);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^rows read +1 .*\nrejected +0\nnew URLs +1\n/);
  assert.equal(await lastKind(t, dataDir), 'added');
});

test('a terminal shows a progress bar with rows, rate and time left, and then only the report', async (t) => {
  const folder = temporaryFolder(t);
  const dump = join(folder, 'dump.csv');
  writeFileSync(dump, [...urlhausDump({ rows: 20_000, seed: 1 })].join(''));
  const { code, written } = await onTerminal(['import', 'urlhaus-csv', dump, '--data', join(folder, 'data')]);
  assert.equal(code, 0);
  const drawn = written.split('\r\u001b[K').slice(1); // each draws over the one before
  const report = drawn.pop() ?? '';
  if (drawn.at(-1) === 'Creating indexes') drawn.pop(); // where this takes long enough to be shown
  assert.ok(drawn.length >= 2, `drawn ${drawn.length} times`);
  for (const bar of drawn) assert.match(bar, /^\[#*-*\] [\d,]+ rows, [\d,]+\/s, \d+ %, \d+:\d\d left$/);
  assert.match(report, /^rows read +20,000 /);
});

async function lastKind(t: TestContext, dataDir: string): Promise<string | undefined> {
  const store = await openIntelligence({ dataDir });
  t.after(() => store.close());
  return (await newestEventOf(store, URL))?.status;
}
