import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Control } from '../../../src/app/stores.ts';
import type { FeedResult, RunFeed } from '../../../src/ingest/feeds/feed-run.ts';
import { startSchedule } from '../../../src/ingest/feeds/schedule.ts';
import { postgresControl } from '../../postgres-control.ts';
import { temporaryDatabase } from '../../servers/temporary-database.ts';
import { feedOf } from './feed-of.ts';

const NOW = 1_767_225_600;
const DONE: FeedResult = { outcome: 'imported', rows: 7, validators: { etag: null, lastModified: null } };

/** Of the lease of 120 s, the 90 s that are left when it is renewed. */
const HARMLESS_SKEW_SECONDS = 89;

/** Nodes on one database with feeds that are due; each has a clock of its own, `skews` seconds ahead of the time. */
async function openNodes(t: TestContext, feeds: readonly string[], skews: readonly number[], runFeed: RunFeed) {
  const url = await temporaryDatabase(t);
  const time = { ts: NOW };
  const ran: string[] = [];
  const nodes = [];
  for (const [i, skew] of skews.entries()) {
    const control = await postgresControl(t, url);
    const timers = new Map<number, () => void>();
    const turns: string[] = [];
    let leased: Promise<unknown> = Promise.resolve();
    const leaseFeed: Control['leaseFeed'] = (...args) => {
      const asked = control.leaseFeed(...args);
      leased = asked;
      return asked;
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
      onRun: (_name, { outcome }) => turns.push(outcome),
      runFeed(feed, signal) {
        ran.push(`${feed.name} ${i}`);
        return runFeed(feed, signal);
      },
    });
    nodes.push({ control, schedule, timers, turns, renewed: () => leased });
  }
  for (const name of feeds) await nodes[0]?.control.putFeed(feedOf({ name, nextRunTs: NOW }));
  return { nodes, ran, time };
}

test('of nodes that look at the same moment one runs a feed, once', async (t) => {
  const { nodes, ran } = await openNodes(t, ['f'], [0, 0], async () => DONE);
  for (let look = 0; look < 5; look++) await Promise.all(nodes.map(({ schedule }) => schedule.runDue()));
  assert.equal(ran.length, 1);
});

test('nodes share several feeds, each of which runs once', { timeout: 60_000 }, async (t) => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const halves = [Promise.withResolvers<FeedResult>(), Promise.withResolvers<FeedResult>()];
  let begun = 0;
  // None is done before all three nodes are at one.
  const runFeed = () => {
    const half = halves[Math.floor(begun++ / 3)] ?? assert.fail('one too many');
    if (begun % 3 === 0) half.resolve(DONE);
    return half.promise;
  };
  const { nodes, ran } = await openNodes(t, names, [0, 0, 0], runFeed);
  for (let look = 0; look < 3; look++) await Promise.all(nodes.map(({ schedule }) => schedule.runDue()));
  assert.deepEqual(ran.map((run) => run.charAt(0)).sort(), names);
  assert.deepEqual(ran.map((run) => run.charAt(2)).sort(), ['0', '0', '1', '1', '2', '2']);
});

for (const skew of [HARMLESS_SKEW_SECONDS, -HARMLESS_SKEW_SECONDS]) {
  test(`a feed that runs is left alone by a node whose clock is ${skew} s off`, async (t) => {
    const gate = Promise.withResolvers<FeedResult>();
    let runs = 0;
    const runFeed = async () => (++runs === 1 ? gate.promise : DONE);
    const { nodes, ran, time } = await openNodes(t, ['f'], [0, skew], runFeed);
    const [first, second] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
    const running = first.schedule.runDue();
    while (ran.length === 0) await new Promise((resolve) => setImmediate(resolve));
    // It takes ten minutes, and the other node looks just before each renewal.
    for (let renewals = 0; renewals < 20; renewals++) {
      time.ts += 30;
      await second.schedule.runDue();
      first.timers.get(30_000)?.();
      await first.renewed();
    }
    gate.resolve(DONE);
    await running;
    assert.deepEqual([ran, first.turns], [['f 0'], ['imported']]);
    assert.ok(second.turns.every((outcome) => outcome === 'busy'));
  });
}
