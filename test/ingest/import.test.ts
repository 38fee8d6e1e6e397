import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Intelligence } from '../../src/app/stores.ts';
import { sliceToByteText } from '../../src/core/byte-text.ts';
import { AppError } from '../../src/core/errors.ts';
import { NO_DETAILS } from '../../src/core/observation.ts';
import { urlhausCsv } from '../../src/ingest/formats/urlhaus.ts';
import { BATCH_SIZE } from '../../src/ingest/import.ts';
import type { Item } from '../../src/ingest/sources/format.ts';
import type { Reject } from '../../src/ingest/store.ts';
import { packBatch, unpackGroups } from '../../src/urls/packed-groups.ts';
import { factsOf } from '../urls/contract/observations.ts';
import { lastOf } from '../urls/results.ts';
import { exported, fakeFormat, importWorld, NO_SOURCE, NOW_TS, row, textSource, type World } from './import-world.ts';

const CSV = `# id,dateadded,url,url_status,last_online,threat,tags,urlhaus_link,reporter
"3","2026-01-01 00:00:00","http://198.51.100.7/a","online","2026-01-02 00:00:00","malware_download","elf","https://x.example/3/","ada"
"2","2025-12-31 00:00:00","http://b.example/b","offline","2025-12-31 12:00:00","malware_download","None","https://x.example/2/","bob"
"1","never","http://c.example/c","online","None","malware_download","None","https://x.example/1/","bob"
`;

suite('an import', () => {
  test('reports what it did, and a second import of the same source changes nothing', async (t) => {
    const { run, store, control } = await importWorld(t);
    const first = await run({ format: urlhausCsv, source: textSource(CSV) });
    const { seconds, firstRejects, ...summary } = first;
    assert.deepEqual(summary, {
      id: 1,
      outcome: 'done',
      error: null,
      listingTs: null,
      read: 3,
      observations: 5,
      urlsAdded: 2,
      eventsChanged: 3,
      payloadsAdded: 0,
      resolutionsChanged: 2,
      filesChanged: 0,
      evidence: 0,
      listingsChanged: 0,
      domainsChanged: 0,
      listsChanged: 0,
      rejected: 1,
      wentOffline: 0,
      newestEventTs: Date.UTC(2026, 0, 1) / 1000,
      confirmedTs: Date.UTC(2026, 0, 2) / 1000,
      repeatedWrites: 0,
      isOnlineOnly: false,
    });
    assert.ok(seconds > 0);
    assert.equal((await lastOf(store, 'http://b.example/b'))?.status?.status, 'offline');

    const { urlsAdded, eventsChanged, resolutionsChanged } = await run({ format: urlhausCsv, source: textSource(CSV) });
    assert.deepEqual([urlsAdded, eventsChanged, resolutionsChanged], [0, 0, 0]);

    const [, record] = await control.imports({ limit: 10 });
    const { id, outcome, error, listingTs, repeatedWrites, isOnlineOnly, ...counts } = summary;
    const start = { format: 'urlhaus-csv', feed: 'feed', source: 'text', startedTs: NOW_TS };
    assert.deepEqual(record, { id, ...start, finishedTs: NOW_TS, outcome, counts, error, heartbeatTs: NOW_TS });
    assert.deepEqual(firstRejects, await rejectsOf({ control }, 1));
  });

  test('stores rejected rows with line, reason and text', async (t) => {
    const world = await importWorld(t);
    const tooNew = NOW_TS + 86_401;
    const items: Item[] = [
      row(1, 'http://a.example/', [10, 'online']),
      row(2, 'http://', [10, 'online']),
      row(3, 'http://b.example/', [NOW_TS + 86_400, 'online']),
      row(4, 'http://c.example/', [10, 'online'], [tooNew, 'online']),
      row(5, 'http://c.example/', [1.5, 'online']),
      { kind: 'reject', line: 6, text: 'a\0b\ud800', reason: 'why not' },
    ];
    const report = await world.run({ format: fakeFormat(() => pages(items, 2)), source: NO_SOURCE });
    assert.deepEqual([report.read, report.rejected, report.urlsAdded, report.observations], [6, 4, 2, 2]);
    const rejects = await rejectsOf(world, report.id ?? 0);
    assert.deepEqual(
      rejects.map(({ line }) => line),
      [2, 4, 5, 6],
    );
    assert.match(rejects[0]?.reason ?? '', /^url: /);
    assert.match(rejects[1]?.reason ?? '', /more than a day in the future/);
    assert.match(rejects[2]?.reason ?? '', /whole number/);
    assert.deepEqual(rejects[3], { line: 6, reason: 'why not', text: 'a\ufffdb\ufffd' });
    assert.equal(await world.store.urlId('http://c.example/'), null, 'a row is rejected as a whole');
  });

  test('stores the first 10,000 rejects and counts all', async (t) => {
    const world = await importWorld(t);
    const bad = Array.from({ length: 10_500 }, (_, i): Item => ({ kind: 'reject', line: i, text: '', reason: 'bad' }));
    const report = await world.run({ format: fakeFormat(() => pages(bad, 700)), source: NO_SOURCE });
    assert.equal(report.rejected, 10_500);
    assert.equal(report.firstRejects.length, 5);
    const kept = await rejectsOf(world, report.id ?? 0);
    assert.equal(kept.length, 10_000);
    assert.equal(kept.at(-1)?.line, 9_999);
  });

  test('with isStrict it stops at the first reject and applies no later batch', async (t) => {
    const { run, store, control } = await importWorld(t);
    const rows = manyRows(BATCH_SIZE + 10);
    rows[BATCH_SIZE + 5] = { kind: 'reject', line: 4_711, text: 'x', reason: 'bad' };
    await assert.rejects(run({ format: fakeFormat(() => pages(rows, 100)), source: NO_SOURCE, isStrict: true }), {
      name: 'AppError',
      message: /line 4711: bad/,
    });
    assert.notEqual(await store.urlId(urlOf(BATCH_SIZE - 1)), null, 'the batch before stays');
    assert.equal(await store.urlId(urlOf(BATCH_SIZE)), null);
    const [record] = await control.imports({ limit: 1 });
    assert.equal(record?.outcome, 'failed');
    assert.match(record?.error ?? '', /line 4711/);
  });

  test('a dry run reads and checks everything', async (t) => {
    const { run, control } = await importWorld(t);
    const report = await run({ format: urlhausCsv, source: textSource(CSV), into: null });
    assert.deepEqual([report.id, report.read, report.observations, report.rejected], [null, 3, 5, 1]);
    assert.deepEqual([report.firstRejects[0]?.line, report.urlsAdded], [4, 0]);
    assert.deepEqual(await control.imports({ limit: 1 }), []);
  });

  test('looks up the AS number of addresses that have none in the data', async (t) => {
    const { run, store } = await importWorld(t);
    const item: Item = row(1, 'http://198.51.100.7/', [10, 'online']);
    const inputs = [{ ts: 10, url: 'http://198.51.100.8/', asn: 7 }];
    const given: Item = { kind: 'observations', line: 2, text: '', inputs };
    const lookupAsn = (ip: Uint8Array) => 64_500 + (ip[15] ?? 0);
    await run({ format: fakeFormat(() => pages([item, given], 2)), source: NO_SOURCE, lookupAsn });
    assert.equal(await matches(store, 64_507), 1);
    assert.equal(await matches(store, 7), 1, 'what the data says wins');
  });

  test('if the source fails, the applied batches stay, and a second import ends in the same state as a single one', async (t) => {
    const [interrupted, clean] = [await importWorld(t), await importWorld(t)];
    const rows = manyRows(BATCH_SIZE * 3);
    async function* truncated() {
      yield* pages(rows.slice(0, BATCH_SIZE * 2 + 100), 250);
      throw new AppError('bad_request', 'the file ends in the middle');
    }
    await assert.rejects(interrupted.run({ format: fakeFormat(truncated), source: NO_SOURCE }), {
      message: /in the middle/,
    });
    const [record] = await interrupted.control.imports({ limit: 1 });
    assert.deepEqual([record?.outcome, record?.error], ['failed', 'the file ends in the middle']);
    assert.equal(record?.counts.urlsAdded, BATCH_SIZE * 2);

    for (const { run } of [interrupted, clean])
      await run({ format: fakeFormat(() => pages(rows, 250)), source: NO_SOURCE });
    assert.deepEqual(await exported(interrupted), await exported(clean));
  });

  test('rows in any order leave the same last statuses', async (t) => {
    const rows = Array.from({ length: 300 }, (_, i) =>
      row(i, urlOf(i % 50), [1_000 + ((i * 7_919) % 300), i % 3 === 0 ? 'offline' : 'online']),
    );
    const orders = [rows, rows.toReversed(), rows.toSorted((a, b) => hash(a) - hash(b))];
    const results: unknown[] = [];
    for (const order of orders) {
      const { run, store } = await importWorld(t);
      await run({ format: fakeFormat(() => pages(order, 40)), source: NO_SOURCE });
      results.push(await Promise.all(Array.from({ length: 50 }, async (_, i) => statusOf(store, urlOf(i)))));
    }
    assert.deepEqual(results[1], results[0]);
    assert.deepEqual(results[2], results[0]);
  });

  test('stops after the current batch and reports it', async (t) => {
    const { run, store, control } = await importWorld(t);
    const controller = new AbortController();
    let isClosed = false;
    async function* endless() {
      try {
        for (let from = 0; ; from += BATCH_SIZE / 4) {
          if (from > BATCH_SIZE) controller.abort();
          yield manyRows(BATCH_SIZE / 4, from);
        }
      } finally {
        isClosed = true;
      }
    }
    const report = await run({ format: fakeFormat(endless), source: NO_SOURCE, signal: controller.signal });
    assert.equal(report.outcome, 'stopped');
    assert.equal(isClosed, true, 'the source is closed');
    assert.equal(report.read, BATCH_SIZE);
    assert.notEqual(await store.urlId(urlOf(BATCH_SIZE - 1)), null);
    assert.equal((await control.import(report.id ?? 0))?.outcome, 'stopped');
  });

  test('stops while it is waiting for its source', async (t) => {
    const { run } = await importWorld(t);
    const controller = new AbortController();
    async function* silent() {
      yield manyRows(1);
      setImmediate(() => controller.abort());
      await new Promise(() => {});
    }
    const report = await run({ format: fakeFormat(silent), source: NO_SOURCE, signal: controller.signal });
    assert.equal(report.outcome, 'stopped');
  });

  test('reads the next rows while it writes, but only a few batches ahead', async (t) => {
    const world = await importWorld(t);
    const inFlight = world.store.importBatches?.inFlight ?? 2;
    let [running, maxRunning, read, readWhileWriting] = [0, 0, 0, 0];
    const apply: Intelligence['apply'] = async (batch) => {
      maxRunning = Math.max(maxRunning, ++running);
      const before = read;
      const report = await world.store.apply(batch);
      readWhileWriting = Math.max(readWhileWriting, read - before);
      running--;
      return report;
    };
    async function* counted() {
      for await (const items of pages(manyRows(BATCH_SIZE * (inFlight + 4)), 250)) {
        read += items.length;
        yield items;
      }
    }
    const into = { control: world.control, store: { ...world.store, apply } };
    await world.run({ format: fakeFormat(counted), source: NO_SOURCE, into });
    assert.equal(maxRunning, inFlight);
    assert.ok(readWhileWriting >= BATCH_SIZE / 2, `${readWhileWriting} rows were read during a write`);
    assert.ok(readWhileWriting <= BATCH_SIZE * (inFlight + 1), `${readWhileWriting} rows were read ahead`);
  });

  test('URLs come in batches as large as the store prefers, other records do not', async (t) => {
    const world = await importWorld(t);
    const sizesOf = async (items: readonly Item[]) => {
      const sizes: number[] = [];
      const apply: Intelligence['apply'] = (batch) => {
        sizes.push([...unpackGroups(packBatch(batch), sliceToByteText)].length);
        return world.store.apply(batch);
      };
      const store = { ...world.store, apply, importBatches: { size: 2 * BATCH_SIZE, inFlight: 2 } };
      const into = { control: world.control, store };
      await world.run({ format: fakeFormat(() => pages(items, 250)), source: NO_SOURCE, into });
      return sizes;
    };
    const urls = manyRows(2 * BATCH_SIZE + 1);
    const file: Item = { kind: 'file', line: 1, text: '', file: { ...NO_DETAILS, sha256: '0'.repeat(64) } };
    assert.deepEqual(await sizesOf(urls), [2 * BATCH_SIZE, 1]);
    assert.deepEqual(await sizesOf([file, ...urls]), [BATCH_SIZE - 1, BATCH_SIZE + 2]);
  });

  test('an error of the store ends the import, and its message is stored', async (t) => {
    const world = await importWorld(t);
    const apply = () => Promise.reject(new AppError('unavailable', 'disk full'));
    const into = { control: world.control, store: { ...world.store, apply } };
    const run = world.run({ format: fakeFormat(() => pages(manyRows(BATCH_SIZE * 4), 500)), source: NO_SOURCE, into });
    await assert.rejects(run, { message: 'disk full' });
    assert.equal((await world.control.imports({ limit: 1 }))[0]?.error, 'disk full');
  });

  test('records its counts while it runs', async (t) => {
    const { run, control } = await importWorld(t);
    async function* slow() {
      yield manyRows(BATCH_SIZE);
      while ((await control.import(1))?.counts.urlsAdded !== BATCH_SIZE)
        await new Promise((next) => setTimeout(next, 5));
      const { outcome, heartbeatTs } = (await control.import(1)) ?? {};
      assert.deepEqual([outcome, heartbeatTs], [null, NOW_TS]);
    }
    await run({ format: fakeFormat(slow), source: NO_SOURCE, heartbeatMs: 10 });
    assert.equal((await control.import(1))?.outcome, 'done');
  });

  test('reports its progress', async (t) => {
    const { run } = await importWorld(t);
    const shown: number[] = [];
    const onProgress = ({ rows }: { rows: number }) => shown.push(rows);
    await run({ format: fakeFormat(() => pages(manyRows(5_000), 1_000)), source: NO_SOURCE, onProgress });
    assert.deepEqual(shown, [1_000, 2_000, 3_000, 4_000, 5_000]);
  });
});

async function* pages(items: readonly Item[], size: number): AsyncGenerator<Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

function urlOf(i: number): string {
  return `http://host-${i % 97}.example/${i}`;
}

function manyRows(count: number, from = 0): Item[] {
  return Array.from({ length: count }, (_, i) => row(from + i, urlOf(from + i), [1_000 + from + i, 'online']));
}

function hash(item: Item): number {
  return !('line' in item) ? 0 : (item.line * 2_654_435_761) % 4_294_967_296;
}

async function statusOf(store: Intelligence, url: string): Promise<string | undefined> {
  return (await lastOf(store, url))?.status?.status;
}

async function matches(store: Intelligence, asn: number): Promise<number> {
  let found = 0;
  const bounds = { limit: 10, signal: new AbortController().signal };
  for await (const lines of store.search({ by: 'asn', asn }, { since: 0, until: NOW_TS }, bounds))
    found += factsOf(lines).length;
  return found;
}

async function rejectsOf({ control }: Pick<World, 'control'>, importId: number): Promise<Reject[]> {
  const rejects: Reject[] = [];
  for await (const some of control.rejects(importId)) rejects.push(...some);
  return rejects;
}
