import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Control } from '../../../src/app/stores.ts';
import type { FeedImportResult, ImportFeed } from '../../../src/ingest/feeds/feed-run.ts';
import { startSchedule } from '../../../src/ingest/feeds/schedule.ts';
import { postgresControl } from '../../postgres-control.ts';
import { temporaryDatabase } from '../../servers/temporary-database.ts';
import { feedOf } from './feed-of.ts';

const NOW = 1_767_225_600;
const DONE: FeedImportResult = { outcome: 'imported', rows: 7, validators: { etag: null, lastModified: null } };

/** When a lease of 120 s is renewed, 90 s of it are left. */
const HARMLESS_SKEW_SECONDS = 89;

/** Nodes on one database with due feeds. The clock of each node is `skews` seconds ahead. */
async function openNodes(t: TestContext, feeds: readonly string[], skews: readonly number[], importFeed: ImportFeed) {
  const url = await temporaryDatabase(t);
  const time = { ts: NOW };
  const ran: string[] = [];
  const nodes = [];
  for (const [i, skew] of skews.entries()) {
    const control = await postgresControl(t, url);
    const timers = new Map<number, () => void>();
    const outcomes: string[] = [];
    let leased: Promise<unknown> = Promise.resolve();
    const leaseFeed: Control['leaseFeed'] = (...args) => {
      const lease = control.leaseFeed(...args);
      leased = lease;
      return lease;
    };
    const schedule = startSchedule({
      control: { ...control, leaseFeed },
      now: () => time.ts + skew,
      random: () => 0,
      every(ms, work) {
        timers.set(ms, work);
        return () => timers.delete(ms);
      },
      owner: `node ${i}`,
      onRun: (_name, { outcome }) => outcomes.push(outcome),
      importFeed(feed, signal) {
        ran.push(`${feed.name} ${i}`);
        return importFeed(feed, signal);
      },
    });
    nodes.push({ control, schedule, timers, outcomes, renewed: () => leased });
  }
  for (const name of feeds) await nodes[0]?.control.addFeed(feedOf({ name, nextRunTs: NOW }));
  return { nodes, ran, time };
}

test('if nodes poll at the same time, one of them runs a feed, once', async (t) => {
  const { nodes, ran } = await openNodes(t, ['f'], [0, 0], async () => DONE);
  for (let poll = 0; poll < 5; poll++) await Promise.all(nodes.map(({ schedule }) => schedule.runDue()));
  assert.equal(ran.length, 1);
});

test('if the clock of a node is two hours ahead, a feed is run at most twice in an interval', async (t) => {
  const { nodes, ran, time } = await openNodes(t, ['f'], [0, 7_200], async () => DONE);
  for (const endTs = NOW + 900; time.ts < endTs; time.ts += 30) {
    for (const { schedule } of nodes) await schedule.runDue();
  }
  assert.ok(ran.length >= 3 && ran.length <= 6, ran.join(', '));
});

test('several nodes run each feed once', { timeout: 60_000 }, async (t) => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const all = Promise.withResolvers<FeedImportResult>();
  let begun = 0;
  // No run ends before all have begun, and a node runs two at a time.
  const importFeed = () => {
    if (++begun === names.length) all.resolve(DONE);
    return all.promise;
  };
  const { nodes, ran } = await openNodes(t, names, [0, 0, 0], importFeed);
  for (let poll = 0; poll < 3; poll++) await Promise.all(nodes.map(({ schedule }) => schedule.runDue()));
  assert.deepEqual(ran.map((run) => run.charAt(0)).sort(), names);
  assert.deepEqual(ran.map((run) => run.charAt(2)).sort(), ['0', '0', '1', '1', '2', '2']);
});

for (const skew of [HARMLESS_SKEW_SECONDS, -HARMLESS_SKEW_SECONDS]) {
  test(`a node whose clock is ${skew} s off does not start a feed that is running`, async (t) => {
    const gate = Promise.withResolvers<FeedImportResult>();
    let runs = 0;
    const importFeed = async () => (++runs === 1 ? gate.promise : DONE);
    const { nodes, ran, time } = await openNodes(t, ['f'], [0, skew], importFeed);
    const [first, second] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
    const running = first.schedule.runDue();
    while (ran.length === 0) await new Promise((resolve) => setImmediate(resolve));
    // The run takes ten minutes, and the other node polls just before each renewal.
    for (let renewals = 0; renewals < 20; renewals++) {
      time.ts += 30;
      await second.schedule.runDue();
      first.timers.get(10_000)?.();
      await first.renewed();
    }
    gate.resolve(DONE);
    await running;
    assert.deepEqual([ran, first.outcomes], [['f 0'], ['imported']]);
    assert.ok(second.outcomes.every((outcome) => outcome === 'busy'));
  });
}
