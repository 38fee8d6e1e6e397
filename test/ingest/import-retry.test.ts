import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openControl, openIntelligence } from '../../src/app/stores.ts';
import { AppError } from '../../src/core/errors.ts';
import { BATCH_SIZE, type ImportOptions, runImport } from '../../src/ingest/import.ts';
import type { ImportStores, Waiting } from '../../src/ingest/retry.ts';
import { INPUT_LIMITS, type Item } from '../../src/ingest/sources/format.ts';
import { startPostgres } from '../servers/postgres.ts';
import { exported, fakeFormat, importWorld, NO_SOURCE, NOW_TS, row, type World } from './import-world.ts';

const PAUSE_MS = 5;
const away = () => new AppError('unavailable', 'away', { isTransient: true });

type Name = 'apply' | 'applyFiles' | 'listingEffect' | 'finishListing' | 'addRejects' | 'importFinished';
type Call = { name: Name; repeat(): Promise<unknown> };

/** The stores of a world; `intercept` may fail before or after a call. */
function intercepted({ store, control }: ImportStores, intercept: (call: Call) => Promise<unknown>): ImportStores {
  const wrap = <Args extends unknown[], Result>(name: Name, work: (...args: Args) => Promise<Result>) => {
    return (...args: Args) => intercept({ name, repeat: () => work(...args) }) as Promise<Result>;
  };
  return {
    store: {
      ...store,
      apply: wrap('apply', store.apply),
      applyFiles: wrap('applyFiles', store.applyFiles),
      listingEffect: wrap('listingEffect', store.listingEffect),
      finishListing: wrap('finishListing', store.finishListing),
    },
    control: {
      ...control,
      addRejects: wrap('addRejects', control.addRejects),
      importFinished: wrap('importFinished', control.importFinished),
    },
  };
}

suite('an import whose database is unavailable for a short time', () => {
  test('repeats every write, also one whose answer was lost, and leaves the same data', async (t) => {
    const [disturbed, clean] = [await importWorld(t), await importWorld(t)];
    const first = { format: fakeFormat(() => pages([...manyRows(40, 0)])), source: NO_SOURCE, isComplete: true };
    for (const world of [disturbed, clean]) await world.run({ ...first, asOfTs: 5_000 });

    const attempts = new Map<Name, number>();
    const into = intercepted(disturbed, async ({ name, repeat }) => {
      const attempt = (attempts.get(name) ?? 0) + 1;
      attempts.set(name, attempt);
      if (attempt === 1) throw away();
      const result = await repeat();
      if (attempt === 2) throw away();
      return result;
    });
    const waits: Waiting[] = [];
    const second = {
      format: fakeFormat(() => pages([...manyRows(BATCH_SIZE, 10), file, reject, ...manyRows(20, 10)])),
      source: NO_SOURCE,
      isComplete: true,
      asOfTs: 6_000,
    };
    const retry = { pauseMs: PAUSE_MS, onWaiting: (waiting: Waiting) => waits.push(waiting) };
    const report = await disturbed.run({ ...second, into, ...retry });
    const expected = await clean.run(second);
    assert.deepEqual([report.outcome, report.listingTs, report.rejected], ['done', 6_000, 1]);
    assert.equal(expected.wentOffline, 10);
    assert.equal(report.repeatedWrites, 6);
    assert.equal(waits.length, 12);
    assert.deepEqual([waits[0]?.reason, (waits[0]?.seconds ?? 1) < 1], ['away', true]);
    assert.deepEqual(await exported(disturbed), await exported(clean));
    assert.deepEqual(await rejectsOf(disturbed), await rejectsOf(clean));
    assert.deepEqual(
      (await disturbed.control.imports({ limit: 10 })).map(({ outcome }) => outcome),
      ['done', 'done'],
    );
  });

  test('repeats its batches in their order', async (t) => {
    const world = await importWorld(t);
    const stored: number[] = [];
    const gate = Promise.withResolvers<void>();
    let calls = 0;
    const into = intercepted(world, async ({ name, repeat }) => {
      if (name !== 'apply') return repeat();
      const call = ++calls;
      // Both batches in flight fail, the second one first.
      if (call === 2) setTimeout(gate.resolve, PAUSE_MS * 4);
      if (call === 1) await gate.promise;
      if (call <= 2) throw away();
      const { urlsAdded } = (await repeat()) as { urlsAdded: number };
      stored.push(urlsAdded);
      return { urlsAdded };
    });
    const rows = manyRows(BATCH_SIZE + 7, 0);
    await world.run({ format: fakeFormat(() => pages(rows)), source: NO_SOURCE, into, pauseMs: PAUSE_MS });
    assert.deepEqual(stored, [BATCH_SIZE, 7]);
  });

  test('fails if the promoted standby lacks a batch that was confirmed', async (t) => {
    for (const [standbyWrites, expected] of [
      [1, /^The database lost changes that it had confirmed/],
      [2, null],
    ] as const) {
      const [primary, standby] = [await importWorld(t), await importWorld(t)];
      let isPromoted = false;
      let replicated = 0;
      // The standby gets the first writes, each with its record. Then the primary is gone.
      const replicate = <T>(work: (world: World) => Promise<T>) => {
        if (isPromoted) return work(standby);
        return work(primary).then(async (result) => (replicated < standbyWrites ? work(standby) : result));
      };
      const into: ImportStores = {
        store: {
          ...primary.store,
          async apply(...args) {
            if (!isPromoted && replicated === 2) {
              isPromoted = true;
              throw away();
            }
            return replicate(({ store }) => store.apply(...args));
          },
        },
        control: {
          importStarted: (...args) => replicate(({ control }) => control.importStarted(...args)),
          async importRunning(...args) {
            const isRecorded = await replicate(({ control }) => control.importRunning(...args));
            replicated++;
            return isRecorded;
          },
          importFinished: (...args) => replicate(({ control }) => control.importFinished(...args)),
          addRejects: (...args) => replicate(({ control }) => control.addRejects(...args)),
          feeds: () => primary.control.feeds(),
        },
      };
      const rows = manyRows(BATCH_SIZE * 3, 0);
      async function* oneAtATime() {
        for (let batch = 0; batch < 3; batch++) {
          yield rows.slice(batch * BATCH_SIZE, (batch + 1) * BATCH_SIZE);
          while (replicated <= batch && !isPromoted) await new Promise((next) => setTimeout(next, 2));
        }
      }
      const run = primary.run({ format: fakeFormat(oneAtATime), source: NO_SOURCE, into, pauseMs: PAUSE_MS });
      if (expected !== null) await assert.rejects(run, { code: 'unavailable', message: expected });
      else assert.equal((await run).outcome, 'done');
      if (expected === null) assert.equal((await exported(standby)).length, BATCH_SIZE * 3);
    }
  });

  test('repeats a write that was confirmed but not recorded', async (t) => {
    const world = await importWorld(t);
    let [applied, recorded] = [0, 0];
    const into = intercepted(world, ({ name, repeat }) => {
      if (name === 'apply') applied++;
      return repeat();
    });
    const importRunning: ImportStores['control']['importRunning'] = async (...args) => {
      if (++recorded === 1) throw away();
      return world.control.importRunning(...args);
    };
    const report = await world.run({
      format: fakeFormat(() => pages(manyRows(5, 0))),
      source: NO_SOURCE,
      into: { ...into, control: { ...into.control, importRunning } },
      pauseMs: PAUSE_MS,
    });
    assert.deepEqual([applied, report.urlsAdded, report.repeatedWrites], [2, 5, 1]);
  });

  test('does not repeat a write that fails for another reason', async (t) => {
    const world = await importWorld(t);
    let applied = 0;
    const into = intercepted(world, async ({ name, repeat }) => {
      if (name !== 'apply') return repeat();
      throw ++applied === 1 ? away() : new AppError('unavailable', 'disk full');
    });
    const run = world.run({
      format: fakeFormat(() => pages(manyRows(5, 0))),
      source: NO_SOURCE,
      into,
      pauseMs: PAUSE_MS,
    });
    await assert.rejects(run, { message: 'disk full' });
    assert.equal(applied, 2);
    assert.equal((await world.control.import(1))?.error, 'disk full');
  });

  test('an abort ends the wait, also while an attempt does not end', { timeout: 10_000 }, async (t) => {
    for (const hangs of [false, true]) {
      const world = await importWorld(t);
      const stop = new AbortController();
      let applied = 0;
      const into = intercepted(world, async ({ name, repeat }) => {
        if (name !== 'apply') return repeat();
        if (++applied === 2) setImmediate(() => stop.abort());
        if (applied === 2 && hangs) await new Promise(() => {});
        throw away();
      });
      const wait = { pauseMs: PAUSE_MS, signal: stop.signal };
      const run = world.run({ format: fakeFormat(() => pages(manyRows(5, 0))), source: NO_SOURCE, into, ...wait });
      await assert.rejects(run, { message: 'away' });
      assert.equal(applied, 2);
    }
  });

  test('records why it failed, unless it was stopped while its database was away', async (t) => {
    const full = new AppError('unavailable', 'disk full');
    for (const [isStopped, failure, recorded] of [
      [false, away(), ['failed', 'The database was unavailable for 0 s. away']],
      [true, full, ['failed', 'disk full']],
      [true, away(), [null, null]],
    ] as const) {
      const world = await importWorld(t);
      const stop = new AbortController();
      const into = intercepted(world, async ({ name, repeat }) => {
        if (name !== 'apply') return repeat();
        if (isStopped) stop.abort();
        throw failure;
      });
      const format = fakeFormat(() => pages(manyRows(5, 0)));
      const wait = { pauseMs: PAUSE_MS, retryForMs: 0, signal: stop.signal };
      await assert.rejects(world.run({ format, source: NO_SOURCE, into, ...wait }), { code: 'unavailable' });
      const record = await world.control.import(1);
      assert.deepEqual([record?.outcome, record?.error], recorded);
    }
  });

  test('gives up when its PostgreSQL server does not come back', { timeout: 60_000 }, async (t) => {
    const server = await startPostgres();
    t.after(() => server.remove());
    const place = { dataDir: '', databaseUrl: server.url };
    const into = { store: await openIntelligence(place), control: await openControl(place) };
    t.after(() => Promise.all([into.store.close(), into.control.close()]));
    async function* thenKilled() {
      yield* pages(manyRows(BATCH_SIZE, 0));
      await server.stop('SIGQUIT');
      yield* pages(manyRows(BATCH_SIZE, BATCH_SIZE));
    }
    const startMs = performance.now();
    const options = {
      format: fakeFormat(thenKilled),
      source: NO_SOURCE,
      into,
      retryForMs: 1_000,
      pauseMs: 100,
      signal: t.signal,
    };
    const message = /^The database was unavailable for [1-9]\d* s\. PostgreSQL.+$/;
    await assert.rejects(importInto(options), { code: 'unavailable', message });
    assert.ok(performance.now() - startMs < 30_000);
  });
});

function importInto(options: Pick<ImportOptions, 'format' | 'source' | 'into'> & Partial<ImportOptions>) {
  return runImport({ feed: 'feed', limits: INPUT_LIMITS, nowTs: () => NOW_TS, ...options });
}

async function* pages(items: readonly Item[]): AsyncGenerator<Item[]> {
  for (let from = 0; from < items.length; from += 500) yield items.slice(from, from + 500);
}

function manyRows(count: number, from: number): Item[] {
  const ts = 1_000 + from;
  return Array.from({ length: count }, (_, i) => row(from + i, `http://a.example/${from + i}`, [ts + i, 'online']));
}

const reject: Item = { kind: 'reject', line: 9_999, text: 'x', reason: 'bad' };
const details = { mimeType: null, fileType: null, fileExt: null, fileSize: null, fileName: null };
const file: Item = {
  kind: 'file',
  line: 9_998,
  text: '',
  file: { sha256: 'ab'.repeat(32), family: 'Mozi', ...details },
};

async function rejectsOf({ control }: World): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const some of control.rejects(2)) all.push(...some);
  return all;
}
