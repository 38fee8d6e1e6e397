import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openIntelligence } from '../../src/app/stores.ts';
import { MAX_BULK_LINES } from '../../src/urls/bulk.ts';
import { createKnownUrlsBuffer } from '../../src/urls/sqlite/known-urls.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { BASE, build, lines } from './build.ts';

const WRITER = fileURLToPath(new URL('./bulk-writer.ts', import.meta.url));
const URLS = 100_000;
const WRITTEN_URLS = 500;
/** URLs that are requested while the writer runs. */
const NEWEST = 1_500;

const urlAt = (i: number) => `http://a.example/${i}`;

test('no URL is missed once another process has stored it', async (t) => {
  const dataDir = temporaryFolder(t);
  const store = await openIntelligence({ dataDir }, { knownUrls: createKnownUrlsBuffer() });
  t.after(() => store.close());
  const { app } = await build(t, { services: { store } });

  async function assertFound(from: number, to: number): Promise<void> {
    const urls = Array.from({ length: to - from }, (_, i) => urlAt(from + i));
    const unknown = urls.slice(0, MAX_BULK_LINES - urls.length).map((url) => `${url}~`);
    const payload = Buffer.from([...urls, ...unknown].join('\n'));
    const responses = lines((await app.inject({ method: 'POST', url: `${BASE}/bulk`, payload })).body);
    const { lines: count, found } = responses.at(-1) as { lines: number; found: number };
    assert.equal(count, urls.length + unknown.length);
    const missed = urls.filter((_, i) => (responses[i] as { found?: boolean }).found !== true);
    assert.deepEqual(missed, []);
    assert.equal(found, urls.length);
  }

  const writer = fork(WRITER, [dataDir, `${URLS}`, `${WRITTEN_URLS}`]);
  const ended = once(writer, 'exit');
  t.after(() => writer.kill());
  let stored = 0;
  writer.on('message', (count: number) => {
    stored = count;
  });
  await once(writer, 'message');
  let requests = 0;
  for (; stored < URLS && writer.exitCode === null; requests++) {
    const upTo = stored;
    await assertFound(Math.max(0, upTo - NEWEST), upTo);
  }
  assert.deepEqual(await ended, [0, null]);
  assert.ok(requests > 2, `${requests} requests while it wrote`);
  for (let from = 0; from < URLS; from += MAX_BULK_LINES) await assertFound(from, from + MAX_BULK_LINES);
});
