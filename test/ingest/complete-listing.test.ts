import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { AppError } from '../../src/core/errors.ts';
import { urlList } from '../../src/ingest/formats/url-list.ts';
import type { Item } from '../../src/ingest/sources/format.ts';
import { newestEventOf } from '../urls/results.ts';
import { fakeFormat, importWorld, NO_SOURCE, NOW_TS, row, textSource, type World } from './import-world.ts';

const [A, B, C, D] = ['a', 'b', 'c', 'd'].map((name) => `http://${name}.example/`) as [string, string, string, string];

/** The rows of a listing: these URLs, each seen online at `ts`. */
function listed(ts: number, ...urls: string[]): Item[] {
  return urls.map((url, i) => row(i + 1, url, [ts, 'online']));
}

async function complete(world: World, items: Item[], options: object = {}) {
  const format = fakeFormat(async function* () {
    yield items;
  });
  return world.run({ format, source: NO_SOURCE, isComplete: true, ...options });
}

async function last({ store }: World, url: string): Promise<string> {
  const event = await newestEventOf(store, url);
  return event ? `${event.status}@${event.ts}` : 'unknown';
}

suite('a complete listing', () => {
  test('takes URLs that it does not list offline, at the time of the listing', async (t) => {
    const world = await importWorld(t);
    await complete(world, listed(100, A, B, C));
    const report = await complete(world, listed(200, A, B, D));
    assert.deepEqual([report.outcome, report.wentOffline, report.listingTs], ['done', 1, 200]);
    assert.deepEqual(await Promise.all([A, B, C, D].map((url) => last(world, url))), [
      'added@100',
      'added@100',
      'offline@200',
      'added@200',
    ]);
    const again = await complete(world, listed(200, A, B, D));
    assert.deepEqual([again.wentOffline, again.eventsChanged, again.urlsAdded], [0, 0, 0]);
  });

  test('listings in any order end in the same statuses', async (t) => {
    const listings = [listed(100, A, B, C), listed(200, A, B, D), listed(300, A, C, D)];
    const orders = [[0, 1, 2] as const, [2, 1, 0] as const, [1, 2, 0] as const];
    const results: unknown[] = [];
    for (const order of orders) {
      const world = await importWorld(t);
      for (const i of order) await complete(world, listings[i] ?? [], { isForced: true });
      const ends = await Promise.all([A, B, C, D].map((url) => last(world, url)));
      results.push(ends.map((end) => end.replace(/@.*/, '').replace('added', 'online')));
    }
    assert.deepEqual(results[0], ['online', 'offline', 'online', 'online']);
    assert.deepEqual(results[1], results[0]);
    assert.deepEqual(results[2], results[0]);
  });

  const times: [string, Item[], number | null, number][] = [
    ['the newest time in its rows', listed(200, A, B), null, 200],
    ['the newest time in its rows, if that is not in the last row', [...listed(200, A), ...listed(150, B)], null, 200],
    ['its banner, if that is later', [{ kind: 'time', ts: 250 }, ...listed(200, A, B)], null, 250],
    ['its rows, if those are later', [{ kind: 'time', ts: 150 }, ...listed(200, A, B)], null, 200],
    ['--as-of', [{ kind: 'time', ts: 250 }, ...listed(200, A, B)], 220, 220],
  ];
  for (const [what, items, asOfTs, expected] of times) {
    test(`takes its time from ${what}`, async (t) => {
      const world = await importWorld(t);
      await complete(world, listed(100, A, B, C));
      assert.equal((await complete(world, items, { asOfTs })).listingTs, expected);
      assert.equal(await last(world, C), `offline@${expected}`);
    });
  }

  test('a URL that its row reports as offline is not listed', async (t) => {
    const world = await importWorld(t);
    await complete(world, listed(100, A, B, C));
    await complete(world, [...listed(200, A, B), row(3, C, [50, 'online'], [80, 'offline'])]);
    assert.equal(await last(world, C), 'offline@200');
  });

  test('a listing of another feed takes no URL of this feed offline', async (t) => {
    const world = await importWorld(t);
    await complete(world, listed(100, A, B, C));
    const report = await complete(world, listed(200, A, B), { feed: 'other' });
    assert.equal(report.wentOffline, 0);
    assert.equal(await last(world, C), 'added@100');
  });

  test('a truncated listing takes no URL offline', async (t) => {
    const world = await importWorld(t);
    await complete(world, listed(100, A, B, C));
    const format = fakeFormat(async function* () {
      yield listed(200, A, B);
      throw new AppError('bad_request', 'the file ends in the middle');
    });
    await assert.rejects(world.run({ format, source: NO_SOURCE, isComplete: true }));
    assert.equal(await last(world, C), 'added@100');
  });

  const refusals: [string, Item[], object, RegExp][] = [
    [
      'would take more than half offline',
      listed(200, A),
      {},
      /would take 2 of the 3 online URLs of feed offline, .*no URL was taken offline\. .*--force/,
    ],
    ['has an invalid last row', [...listed(200, A, B), bad(3)], {}, /cut off.*--force/],
    ['has no time', [fileRow(1)], {}, /contains no time\. .*--as-of/],
    ['is in the future', listed(200, A, B), { asOfTs: NOW_TS + 100_000 }, /more than a day in the future\. .*--as-of/],
  ];
  for (const [what, items, options, message] of refusals) {
    test(`a listing that ${what} is refused, and its rows stay applied`, async (t) => {
      const world = await importWorld(t);
      await complete(world, listed(100, A, B, C));
      const report = await complete(world, items, options);
      assert.deepEqual([report.outcome, report.wentOffline, report.listingTs], ['refused', 0, null]);
      assert.match(report.error ?? '', message);
      assert.equal(await last(world, C), 'added@100');
      const [record] = await world.control.imports({ limit: 1 });
      assert.deepEqual([record?.outcome, record?.error], ['refused', report.error]);
    });
  }

  test('a listing without rows and without a time counts now, by force only', async (t) => {
    const world = await importWorld(t);
    await complete(world, listed(100, A, B));
    const empty = await world.run({
      format: urlList,
      source: textSource('# none\n'),
      isComplete: true,
      allowsEmptyList: true,
    });
    assert.match(empty.error ?? '', /would take 2 of the 2 online URLs of feed offline, .*--force/);
    const forced = await complete(world, [], { isForced: true });
    assert.deepEqual([forced.outcome, forced.wentOffline, forced.listingTs], ['done', 2, NOW_TS]);
  });

  test('a refused listing is applied with isForced', async (t) => {
    const world = await importWorld(t);
    await complete(world, listed(100, A, B, C));
    const report = await complete(world, [...listed(200, A), bad(2)], { isForced: true });
    assert.deepEqual([report.outcome, report.wentOffline], ['done', 2]);
  });

  test('a listing that takes exactly half of the URLs offline is applied', async (t) => {
    const world = await importWorld(t);
    await complete(world, listed(100, A, B, C, D));
    assert.equal((await complete(world, listed(200, A, B))).wentOffline, 2);
  });

  test('a stopped import takes no URL offline', async (t) => {
    const world = await importWorld(t);
    await complete(world, listed(100, A, B, C));
    const controller = new AbortController();
    const format = fakeFormat(async function* () {
      yield listed(200, A, B);
      controller.abort();
    });
    const report = await world.run({ format, source: NO_SOURCE, isComplete: true, signal: controller.signal });
    assert.equal(report.outcome, 'stopped');
    assert.equal(await last(world, C), 'added@100');
  });

  test('a dry run reports the time of the listing', async (t) => {
    const report = await complete(await importWorld(t), listed(200, A), { into: null });
    assert.deepEqual([report.outcome, report.listingTs], ['done', 200]);
  });

  test('a dry run of a listing that is refused does not say that rows were applied', async (t) => {
    const report = await complete(await importWorld(t), [...listed(200, A), bad(2)], { into: null });
    assert.equal(report.outcome, 'refused');
    assert.doesNotMatch(report.error ?? '', /applied/);
  });
});

/** Details of a file have no time. */
function fileRow(line: number): Item {
  const unknown = { mimeType: null, fileType: null, fileExt: null, fileSize: null, fileName: null, family: null };
  return { kind: 'file', line, text: '', file: { sha256: '0'.repeat(64), ...unknown } };
}

function bad(line: number): Item {
  return { kind: 'reject', line, text: '', reason: 'bad' };
}
