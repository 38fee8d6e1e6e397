import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, type TestContext, test } from 'node:test';
import type { Control } from '../../../src/app/stores.ts';
import { AppError } from '../../../src/core/errors.ts';
import type { FeedImportResult, ImportFeed } from '../../../src/ingest/feeds/feed-run.ts';
import { type ScheduleOptions, startSchedule } from '../../../src/ingest/feeds/schedule.ts';
import type { Feed } from '../../../src/ingest/store.ts';
import { until } from '../../http/build.ts';
import { temporaryControl } from '../../temporary-control.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { feedOf } from './feed-of.ts';

const NOW = 1_767_225_600;
const DONE: FeedImportResult = { outcome: 'imported', rows: 7, validators: { etag: '"e"', lastModified: 'then' } };

type World = Awaited<ReturnType<typeof open>>;

/** A schedule with a real control store, a fake clock and fake timers. */
async function open(
  t: TestContext,
  feeds: readonly Partial<Feed>[],
  given: Partial<ScheduleOptions> & { dataDir?: string } = {},
) {
  const { dataDir = temporaryFolder(t), ...options } = given;
  const control = await temporaryControl(t, dataDir);
  for (const feed of feeds) await control.addFeed(feedOf({ nextRunTs: NOW, ...feed }));
  const clock = { ts: NOW };
  const ran: string[] = [];
  const outcomes: string[] = [];
  const timers = new Map<() => void, number>();
  const importFeed: ImportFeed = options.importFeed ?? (async () => DONE);
  const schedule = startSchedule({
    control,
    now: () => clock.ts,
    random: () => 0,
    every(ms, work) {
      timers.set(work, ms);
      return () => timers.delete(work);
    },
    owner: 'a',
    onRun: (name, { outcome }) => outcomes.push(`${name} ${outcome}`),
    onFailure: (error) => {
      throw error;
    },
    ...options,
    importFeed(feed, signal) {
      ran.push(feed.name);
      return importFeed(feed, signal);
    },
  });
  const feed = async (name = 'f') => (await control.feed(name)) ?? assert.fail(`no ${name}`);
  return { schedule, control, clock, ran, outcomes, timers, feed, dataDir };
}

describe('the schedule of feeds', () => {
  test('runs only due feeds, the longest overdue first', async (t) => {
    const { schedule, ran, outcomes } = await open(t, [
      { name: 'due' },
      { name: 'later', nextRunTs: NOW + 1 },
      { name: 'overdue', nextRunTs: NOW - 9 },
      { name: 'paused', isPaused: true, nextRunTs: 0 },
    ]);
    await schedule.runDue();
    assert.deepEqual(ran, ['overdue', 'due']);
    assert.deepEqual(outcomes, ['overdue imported', 'due imported']);
  });

  test('a feed that ran while the clock was far ahead is due, once', async (t) => {
    const { schedule, ran, feed } = await open(t, [
      { name: 'far', lastRunTs: NOW + 3_601, nextRunTs: NOW + 3_901 },
      { name: 'a little', lastRunTs: NOW + 3_600, nextRunTs: NOW + 3_900 },
    ]);
    await schedule.runDue();
    await schedule.runDue();
    assert.deepEqual([ran, (await feed('far')).nextRunTs], [['far'], NOW + 300]);
  });

  test('a success is stored, and the next run is due after one interval', async (t) => {
    const { schedule, clock, ran, feed } = await open(t, [{ failures: 2, lastError: 'x' }]);
    await schedule.runDue();
    const { lastRunTs, lastSuccessTs, lastError, failures, rows, etag, lastModified, nextRunTs } = await feed();
    assert.deepEqual([lastRunTs, lastSuccessTs, nextRunTs], [NOW, NOW, NOW + 300]);
    assert.deepEqual([lastError, failures, rows, etag, lastModified], [null, 0, 7, '"e"', 'then']);
    clock.ts += 299;
    await schedule.runDue();
    assert.equal(ran.length, 1);
    clock.ts += 1;
    await schedule.runDue();
    assert.equal(ran.length, 2);
  });

  test('not_modified is a success that keeps rows and validators', async (t) => {
    const stored = { rows: 9, etag: '"old"', lastModified: 'once' };
    const { schedule, feed } = await open(t, [stored], { importFeed: async () => ({ outcome: 'not_modified' }) });
    await schedule.runDue();
    const { lastSuccessTs, rows, etag, lastModified } = await feed();
    assert.deepEqual({ lastSuccessTs, rows, etag, lastModified }, { lastSuccessTs: NOW, ...stored });
  });

  test('a failure is stored with its message and retried with growing delays', async (t) => {
    const stored = { lastSuccessTs: NOW - 300, rows: 9, etag: '"old"', intervalSeconds: 86_400 };
    const world = await open(t, [stored], {
      importFeed: async () => {
        throw new AppError('unavailable', 'feeds.example responded with 503', { retryAfterSeconds: 400 });
      },
    });
    for (const [failures, delay] of [
      [1, 400],
      [2, 600],
      [3, 1_200],
    ] as const) {
      await world.schedule.runDue();
      const feed = await world.feed();
      assert.deepEqual([feed.failures, feed.nextRunTs - world.clock.ts], [failures, delay]);
      world.clock.ts = feed.nextRunTs;
    }
    const { lastError, lastSuccessTs, rows, etag } = await world.feed();
    assert.deepEqual(
      [lastError, lastSuccessTs, rows, etag],
      ['feeds.example responded with 503', NOW - 300, 9, '"old"'],
    );
  });

  test('an unexpected error is stored without its message, and the next feed runs', async (t) => {
    const world = await open(t, [{ name: 'bad', nextRunTs: NOW - 1 }, { name: 'good' }], {
      async importFeed({ name }) {
        if (name === 'bad') throw new TypeError('secret of x.y');
        return DONE;
      },
    });
    await world.schedule.runDue();
    assert.match((await world.feed('bad')).lastError ?? '', /^Unexpected error/);
    assert.deepEqual(world.outcomes, ['bad failed', 'good imported']);
  });

  test('a feed has one run at a time, also if it polls again during the run', async (t) => {
    const gate = Promise.withResolvers<FeedImportResult>();
    const { schedule, ran, timers } = await open(t, [{}], { importFeed: () => gate.promise });
    const first = schedule.runDue();
    await started(ran);
    for (const work of timers.keys()) work();
    const second = schedule.runDue();
    gate.resolve(DONE);
    await Promise.all([first, second]);
    assert.deepEqual(ran, ['f']);
  });

  test('one of two nodes runs a feed, and the other does not repeat it', async (t) => {
    const gate = Promise.withResolvers<FeedImportResult>();
    const a = await open(t, [{}], { importFeed: () => gate.promise });
    const b = await open(t, [], { dataDir: a.dataDir, owner: 'b' });
    const running = a.schedule.runDue();
    await started(a.ran);
    await b.schedule.runDue();
    assert.deepEqual([b.ran, b.outcomes], [[], ['f busy']]);
    gate.resolve(DONE);
    await running;
    await b.schedule.runDue();
    assert.deepEqual(b.ran, []);
    b.clock.ts += 300;
    await b.schedule.runDue();
    assert.deepEqual(b.ran, ['f']);
  });

  test('the feed of a dead node is taken over after its lease has expired', async (t) => {
    const world = await open(t, [{}]);
    await world.control.leaseFeed('f', 'dead node', { nowTs: NOW, untilTs: NOW + 120 });
    await world.schedule.runDue();
    assert.deepEqual(world.outcomes, ['f busy']);
    world.clock.ts += 120;
    await world.schedule.runDue();
    assert.deepEqual(world.outcomes, ['f busy', 'f imported']);
  });

  test('a long run renews its lease, and stops after it has lost the lease', async (t) => {
    const world = await open(t, [{}], { importFeed: untilAborted });
    const running = world.schedule.runDue();
    await started(world.ran);
    const renew = renewalOf(world);
    world.clock.ts += 100;
    renew();
    await settled(world.control);
    world.clock.ts += 100;
    const other = { nowTs: world.clock.ts, untilTs: world.clock.ts + 60 };
    assert.equal(await world.control.leaseFeed('f', 'b', other), false, 'renewed at 100 until 220');
    world.clock.ts += 30;
    assert.equal(await world.control.leaseFeed('f', 'b', { nowTs: world.clock.ts, untilTs: NOW + 999 }), true);
    renew();
    await running;
    assert.deepEqual(world.outcomes, ['f busy']);
    assert.equal((await world.feed()).failures, 0);
    assert.equal(await world.control.leaseFeed('f', 'c', { nowTs: world.clock.ts, untilTs: NOW + 999 }), false);
  });

  test('a lease renewal that fails does not end the run, and is repeated ten seconds later', async (t) => {
    const gate = Promise.withResolvers<FeedImportResult>();
    const world = await open(t, [{}], { importFeed: () => gate.promise });
    const running = world.schedule.runDue();
    await started(world.ran);
    const { leaseFeed } = world.control;
    world.control.leaseFeed = async () => {
      throw new AppError('unavailable', 'away');
    };
    world.clock.ts += 30;
    renewalOf(world)();
    await new Promise((resolve) => setImmediate(resolve));
    world.control.leaseFeed = leaseFeed;
    world.clock.ts += 10;
    renewalOf(world)();
    await settled(world.control);
    const other = { nowTs: NOW + 159, untilTs: NOW + 999 };
    assert.equal(await world.control.leaseFeed('f', 'b', other), false, 'renewed at 40 until 160');
    gate.resolve(DONE);
    await running;
    assert.deepEqual(world.outcomes, ['f imported']);
  });

  test('a renewal on its way ends before the lease is released: the feed is free afterwards', async (t) => {
    const gates = { run: Promise.withResolvers<FeedImportResult>(), renewal: Promise.withResolvers<void>() };
    const world = await open(t, [{}], { importFeed: () => gates.run.promise });
    const running = world.schedule.runDue();
    await started(world.ran);
    const { leaseFeed } = world.control;
    world.control.leaseFeed = async (...args) => {
      await gates.renewal.promise;
      return leaseFeed(...args);
    };
    world.clock.ts += 30;
    renewalOf(world)();
    gates.run.resolve(DONE);
    await until(async () => (await world.feed()).rows === DONE.rows);
    gates.renewal.resolve();
    await running;
    assert.deepEqual(await world.control.leasedFeeds(world.clock.ts), []);
  });

  test('a release that fails does not hide why the run failed', async (t) => {
    const world = await open(t, [{}], {
      importFeed: async () => {
        throw new TypeError('a defect');
      },
    });
    world.control.releaseFeed = async () => {
      throw new AppError('unavailable', 'away');
    };
    await world.schedule.runDue();
    assert.deepEqual(world.outcomes, ['f failed']);
  });

  test('checks for due feeds every five seconds', async (t) => {
    const { ran, timers, schedule } = await open(t, [{}]);
    const [look] = [...timers].find(([, ms]) => ms === 5_000) ?? assert.fail('there is no such timer');
    look();
    await started(ran);
    assert.deepEqual(ran, ['f']);
    await schedule.close();
  });

  test('closing aborts the run and waits for it; the feed is due again at the next start', async (t) => {
    const world = await open(t, [{}, { name: 'next' }], { importFeed: untilAborted });
    const running = world.schedule.runDue();
    await started(world.ran);
    await world.schedule.close();
    assert.deepEqual(world.outcomes, ['f stopped', 'next stopped']);
    await running;
    assert.deepEqual(world.timers.size, 0);
    const { nextRunTs, failures, lastError } = await world.feed();
    assert.deepEqual([nextRunTs, failures, lastError], [NOW, 0, null]);
    const restarted = await open(t, [], { dataDir: world.dataDir, owner: 'b' });
    await restarted.schedule.runDue();
    assert.deepEqual(restarted.ran, ['f', 'next'], 'its lease was released');
  });

  test('a feed that is removed or paused before its run is not run', async (t) => {
    const first = { nextRunTs: NOW - 2 };
    const feeds = [{ name: 'a', ...first }, { name: 'b', ...first }, { name: 'c' }, { name: 'd' }];
    const world = await open(t, feeds, {
      async importFeed() {
        await world.control.removeFeed('c');
        await world.control.changeFeed('d', { isPaused: true });
        return DONE;
      },
    });
    await world.schedule.runDue();
    assert.deepEqual(world.ran, ['a', 'b']);
  });

  test('a slow run does not hold up other feeds, and at most two run at the same time', async (t) => {
    const slow = Promise.withResolvers<FeedImportResult>();
    let [runs, most] = [0, 0];
    const world = await open(t, [{ name: 'slow', nextRunTs: NOW - 1 }, { name: 'a' }, { name: 'b' }, { name: 'c' }], {
      async importFeed({ name }) {
        most = Math.max(most, ++runs);
        if (name === 'slow') await slow.promise;
        runs--;
        return DONE;
      },
    });
    const all = world.schedule.runDue();
    await until(() => world.outcomes.length === 3);
    assert.deepEqual(world.outcomes, ['a imported', 'b imported', 'c imported']);
    world.clock.ts += 300;
    for (const work of world.timers.keys()) work(); // the next poll; the slow feed is still due
    await until(() => world.outcomes.length === 6);
    slow.resolve(DONE);
    await all;
    assert.deepEqual(
      [world.outcomes.at(-1), world.ran.filter((name) => name === 'slow').length, most],
      ['slow imported', 1, 2],
    );
  });

  test('two runs without end hold up other feeds for ten minutes only', async (t) => {
    const ages = { endless: NOW - 2, 'endless too': NOW - 1, next: NOW };
    const feeds = Object.entries(ages).map(([name, nextRunTs]) => ({ name, nextRunTs }));
    const world = await open(t, feeds, {
      importFeed: (feed, signal) => (feed.name === 'next' ? Promise.resolve(DONE) : untilAborted(feed, signal)),
    });
    const all = world.schedule.runDue();
    await until(() => world.ran.length === 2);
    for (const [work, ms] of world.timers) if (ms === 600_000) work();
    await until(() => world.outcomes.length === 1);
    assert.deepEqual(world.outcomes, ['next imported']);
    await world.schedule.close();
    await all;
    assert.equal(world.timers.size, 0);
  });

  for (const leave of ['pause', 'remove'] as const) {
    test(`a running feed stops after its ${leave}`, async (t) => {
      const world = await open(t, [{}], { importFeed: untilAborted });
      const running = world.schedule.runDue();
      await started(world.ran);
      if (leave === 'remove') await world.control.removeFeed('f');
      else await world.control.changeFeed('f', { isPaused: true });
      await until(() => [...world.timers.values()].includes(10_000));
      renewalOf(world)();
      await running;
      assert.deepEqual(world.outcomes, ['f unwanted']);
      if (leave === 'pause')
        assert.deepEqual([(await world.feed()).failures, (await world.feed()).lastRunTs], [0, null]);
    });
  }

  test('an unavailable control store is reported, and the next poll tries again', async (t) => {
    const failures: unknown[] = [];
    const world = await open(t, [{}], { onFailure: (error) => failures.push(error) });
    const { feeds } = world.control;
    world.control.feeds = async () => {
      throw new AppError('unavailable', 'down');
    };
    await world.schedule.runDue();
    assert.equal(failures.length, 1);
    world.control.feeds = feeds;
    await world.schedule.runDue();
    assert.deepEqual(world.ran, ['f']);
  });
});

/** The run may begin after the abort. */
const untilAborted: ImportFeed = async (_feed, signal) => {
  if (!signal.aborted) await once(signal, 'abort');
  return { outcome: 'stopped' };
};

async function started(ran: readonly string[]): Promise<void> {
  for (const startMs = performance.now(); ran.length === 0; ) {
    assert.ok(performance.now() - startMs < 10_000, 'no feed was run');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Writes are executed in order, so when this one is done, all earlier ones are too. */
async function settled(control: Control): Promise<void> {
  await control.releaseFeed('none', 'none');
}

function renewalOf({ timers }: World): () => void {
  const [renewal] = [...timers].find(([, ms]) => ms === 10_000) ?? assert.fail('the lease is not renewed');
  return renewal;
}
