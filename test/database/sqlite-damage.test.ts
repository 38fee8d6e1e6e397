import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { before, type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type Intelligence, openControl, openIntelligence } from '../../src/app/stores.ts';
import { AppError } from '../../src/core/errors.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { bulkFill } from '../../tools/shared/bulk-fill.ts';
import { urlAt } from '../../tools/shared/observations.ts';
import { allObservations } from '../../tools/shared/stores.ts';
import { damagePages, leafPages } from '../damaged-pages.ts';
import { BASE, build, serve } from '../http/build.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { ALWAYS, bounds, searchKey, seen } from '../urls/contract/observations.ts';

const URLS = 2_000;
const SAMPLE = Array.from({ length: 100 }, (_, n) => n * (URLS / 100));

let original: string;
before((t) => {
  const folder = temporaryFolder(t as TestContext);
  original = dataFiles(folder).intelligence;
  bulkFill(original, allObservations(URLS));
});

const isDamaged = (error: unknown) => error instanceof AppError && error.code === 'damaged';

/** A data folder with a copy of the database. */
function copyOf(t: TestContext): { dataDir: string; path: string } {
  const dataDir = temporaryFolder(t);
  const path = dataFiles(dataDir).intelligence;
  cpSync(original, path);
  return { dataDir, path };
}

async function opened(t: TestContext, dataDir: string): Promise<Intelligence> {
  const store = await openIntelligence({ dataDir });
  t.after(() => store.close());
  return store;
}

test('a query that meets a damaged page gets 503, all others are answered, and none gets 404', async (t) => {
  const { dataDir, path } = copyOf(t);
  const pages = statSync(path).size / 4096;
  damagePages(
    path,
    Array.from({ length: pages - 100 }, (_, n) => n + 101),
  );
  const { app } = await build(t, { services: { store: await opened(t, dataDir) } });
  const statuses = new Map<string, Set<number>>();
  for (const i of SAMPLE) {
    const url = urlAt({ i, urls: URLS });
    const asked = {
      id: { method: 'POST', url: `${BASE}/id`, payload: { url } },
      last: { method: 'POST', url: `${BASE}/last`, payload: { url } },
      history: { method: 'POST', url: `${BASE}/history`, payload: { url } },
      search: { method: 'POST', url: `${BASE}/search?since=0`, payload: { host: new URL(url).hostname } },
      statuses: { method: 'GET', url: `${BASE}/${i + 1}/statuses?since=0` },
      payloads: { method: 'GET', url: `${BASE}/${i + 1}/payloads` },
    } as const;
    for (const [name, request] of Object.entries(asked)) {
      const { statusCode } = await app.inject(request);
      statuses.set(name, (statuses.get(name) ?? new Set()).add(statusCode));
    }
  }
  assert.ok(statuses.get('last')?.has(200), 'some lookups do not need a damaged page');
  for (const [name, found] of statuses) {
    found.delete(200);
    assert.deepEqual([...found], [503], name);
  }
  assert.equal((await app.inject('/healthz')).statusCode, 200);
});

test('whatever table or index is damaged, a response is the original one or an error', async (t) => {
  const { dataDir } = copyOf(t);
  const healthy = await opened(t, dataDir);
  const lookups = (store: Intelligence) =>
    SAMPLE.flatMap((i) => {
      const url = urlAt({ i, urls: URLS });
      return [
        () => store.urlId(url),
        () => store.urlLast(url),
        () => store.urlHistory(url, 100),
        () => store.hasUrl(i + 1),
      ];
    });
  const expected = await Promise.all(lookups(healthy).map((ask) => ask()));
  const met = new Set<string>();
  for (const [name, pages] of leafPages(original)) {
    if (name === 'sqlite_schema' || name === 'migrations') continue;
    const copy = copyOf(t);
    damagePages(copy.path, pages);
    const store = await openIntelligence(copy);
    for (const [n, ask] of lookups(store).entries()) {
      const response = await (async () => ask())().catch((error) => {
        assert.ok(isDamaged(error), `${name}: ${error}`);
        met.add(name);
        return expected[n];
      });
      assert.deepEqual(response, expected[n], name);
    }
    await store.close();
  }
  for (const name of ['urls', 'urls_by_key', 'payloads', 'files', 'events', 'reporters', 'removals']) {
    assert.ok(met.has(name), `${name}: ${[...met]}`);
  }
});

test('a row that is missing from a dictionary is damage, not a defect of the program', async (t) => {
  const { dataDir, path } = copyOf(t);
  const db = new DatabaseSync(path);
  db.exec('delete from reporters');
  db.close();
  const store = await opened(t, dataDir);
  await assert.rejects(async () => store.urlLast(urlAt({ i: 0, urls: URLS })), isDamaged);
});

test('a number that the driver cannot represent is damage', async (t) => {
  const { dataDir, path } = copyOf(t);
  const db = new DatabaseSync(path);
  db.exec('update urls set event_ts = 9223372036854775807');
  db.close();
  const store = await opened(t, dataDir);
  await assert.rejects(async () => store.urlLast(urlAt({ i: 0, urls: URLS })), isDamaged);
});

test('a stream that meets damage after its first page breaks off', async (t) => {
  const dataDir = temporaryFolder(t);
  const writer = await openIntelligence({ dataDir });
  const urls = Array.from({ length: 1_500 }, (_, n) => seen({ ts: 1_000 + n, url: `http://a.example/${n}` }));
  // A batch assigns ids in no order: three of them, so that the first page has old URLs only.
  for (const from of [0, 500, 1_000]) await writer.apply(urls.slice(from, from + 500));
  await writer.close();
  const { intelligence: path } = dataFiles(dataDir);
  damagePages(path, leafPages(path).get('urls')?.slice(0, 1) ?? []); // the oldest URLs, which come last
  const store = await opened(t, dataDir);
  let lines = '';
  await assert.rejects(async () => {
    for await (const page of store.search(searchKey('host', 'a.example'), ALWAYS, bounds())) lines += page;
  }, isDamaged);
  assert.equal(lines.split('\n').length - 1, 1_000);

  const { port } = await serve(t, { services: { store } });
  const response = await fetch(`http://127.0.0.1:${port}${BASE}/search?since=0`, {
    method: 'POST',
    body: '{"host":"a.example"}',
  });
  assert.equal(response.status, 200);
  await assert.rejects(response.text(), /terminated/);
});

test('a write that meets damage is refused, and writes elsewhere go on', async (t) => {
  const { dataDir, path } = copyOf(t);
  damagePages(path, leafPages(path).get('payloads') ?? []);
  const store = await opened(t, dataDir);
  const url = 'http://new.example/';
  const payload = { ts: 10, sha256: 'a'.repeat(64) };
  const observed = seen({ ts: 10, url, status: 'online', payload });
  await assert.rejects(store.apply([observed]), isDamaged);
  assert.equal(await store.urlId(url), null, 'nothing of the batch is stored');
  await store.apply([seen({ ts: 10, url, status: 'online' })]);
  assert.notEqual(await store.urlId(url), null);
});

test('a file that is damaged at the start is refused with what to do', async (t) => {
  const damages: [string, (path: string) => void][] = [
    ['not a database', (path) => writeFileSync(path, 'text '.repeat(1_000))],
    ['malformed', (path) => truncateSync(path, 100 * 4096)],
    [
      'it is empty; if the folder is new, delete this file',
      (path) => {
        truncateSync(path);
        utimesSync(path, 1, 1);
      },
    ],
  ];
  for (const [detail, damage] of damages) {
    const { dataDir, path } = copyOf(t);
    damage(path);
    const content = readFileSync(path);
    await assert.rejects(openIntelligence({ dataDir }), (error) => {
      assert.ok(isDamaged(error));
      for (const part of [path, detail, 'urlwarden integrity', 'urlwarden restore']) {
        assert.ok((error as Error).message.includes(part), (error as Error).message);
      }
      return true;
    });
    assert.deepEqual(readFileSync(path), content, 'the file is unchanged');
  }
});

test('a file that is cut off while it is open is reported', async (t) => {
  const { dataDir, path } = copyOf(t);
  const store = await opened(t, dataDir);
  assert.notEqual(await store.urlLast(urlAt({ i: 0, urls: URLS })), null);
  await setImmediate(); // the read transaction ends
  truncateSync(path, 100 * 4096);
  for (const i of SAMPLE) await assert.rejects(async () => store.urlLast(urlAt({ i, urls: URLS })), isDamaged);
  await assert.rejects(store.ready(), isDamaged);
});

test('a damaged control database is reported as such by its reads and its writes', async (t) => {
  const dataDir = join(temporaryFolder(t), 'data');
  mkdirSync(dataDir);
  await (await openControl({ dataDir })).close();
  const { control: path } = dataFiles(dataDir);
  damagePages(
    path,
    [...leafPages(path)].flatMap(([name, pages]) => (name === 'usage' ? pages : [])),
  );
  const control = await openControl({ dataDir });
  t.after(() => control.close());
  await assert.rejects(control.usage('1', 1, 1), isDamaged);
  await assert.rejects(control.addUsage([{ sub: '1', day: 1, month: 1, count: 1 }]), isDamaged);
  assert.deepEqual(await control.accounts(), []);
});
