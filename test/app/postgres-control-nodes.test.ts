import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import postgres from 'postgres';
import type { Control } from '../../src/app/stores.ts';
import { feedOf } from '../ingest/feeds/feed-of.ts';
import { postgresControl } from '../postgres-control.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';
import { ADA, GOLD, key } from './control-records.ts';

const NODES = 4;

/** Several nodes that start concurrently on one empty database. */
async function openNodes(t: TestContext) {
  const url = await temporaryDatabase(t);
  const nodes = await Promise.all(Array.from({ length: NODES }, () => postgresControl(t, url)));
  return { url, node: (i: number) => nodes[i % NODES] as Control };
}

const accountOf = (i: number) => ({ ...ADA, sub: `${20_000_000 + i}`, usernameKey: `${i}` });

test('a version belongs to the same data on every node, during concurrent changes', async (t) => {
  const { node } = await openNodes(t);
  let isDone = false;
  const writers = [0, 1, 2].map(async (writer) => {
    for (let i = 0; i < 20; i++) {
      const before = await node(writer + 1).version();
      await node(writer).addAccount(accountOf(writer * 20 + i));
      assert.ok((await node(writer + 1).version()) > before, 'a later read returns a later version');
    }
  });
  const seen = new Map<number, number>();
  const readers = [0, 1, 2, 3].map(async (reader) => {
    while (!isDone) {
      const before = await node(reader).version();
      const count = (await node(reader).accounts()).length;
      if ((await node(reader).version()) !== before) continue;
      assert.equal(count, seen.get(before) ?? count, `version ${before}`);
      seen.set(before, count);
    }
  });
  await Promise.all(writers).finally(() => {
    isDone = true;
  });
  await Promise.all(readers);
  assert.ok(seen.size > 5, `${seen.size} versions were read`);
});

test('a database that was restored to an older state does not reuse a version', async (t) => {
  const { url, node } = await openNodes(t);
  const before = await node(0).version();
  await node(0).addAccount(accountOf(1));
  const after = await node(1).version();
  const sql = postgres(url, { max: 1 });
  await sql`delete from accounts`;
  await sql`update control_version set version = ${before}`;
  await sql.end();
  await node(0).addAccount(accountOf(2));
  assert.notEqual(await node(1).version(), after);
});

test('nodes that start concurrently agree on one key', async (t) => {
  const { node } = await openNodes(t);
  const offered = Array.from({ length: 20 }, (_, i) => node(i).ensureKey(key(`${i}`, i)));
  const kids = new Set((await Promise.all(offered)).map(({ kid }) => kid));
  const [only, ...others] = await node(0).keys();
  assert.deepEqual([others, [...kids]], [[], [only?.kid]]);
});

test('of keys that are added concurrently, only the last one stays', async (t) => {
  const { node } = await openNodes(t);
  await Promise.all(Array.from({ length: 20 }, (_, i) => node(i).addKey(key(`${i}`, i), Number.MAX_SAFE_INTEGER)));
  assert.equal((await node(0).keys()).length, 1, 'the key that was added last');
});

test('no account has a removed tier', async (t) => {
  const { node } = await openNodes(t);
  for (let i = 0; i < 40; i++) {
    await node(0).putTier(GOLD);
    const { sub } = accountOf(i);
    await node(0).addAccount(accountOf(i));
    const [changed, added, removed] = await Promise.all([
      node(1).changeAccount(sub, { tier: 'gold' }).catch(codeOf),
      node(2)
        .addAccount({ ...accountOf(1_000 + i), tier: 'gold' })
        .catch(codeOf),
      node(3).removeTier('gold'),
    ]);
    const isUsed = changed === true || added === true;
    assert.equal(removed, isUsed ? 'in_use' : 'removed', `${changed}, ${added}`);
    for (const one of [sub, accountOf(1_000 + i).sub]) await node(0).removeAccount(one, 1);
  }
});

test('the counts of 50 concurrent batches are summed in any order', async (t) => {
  const { node } = await openNodes(t);
  const subs = Array.from({ length: 60 }, (_, i) => `${20_000_000 + i}`);
  await node(0).addUsage(subs.map((sub) => ({ sub, day: 10, month: 1, count: 100 })));
  const batches = Array.from({ length: 50 }, (_, batch) =>
    shuffled(subs, batch).map((sub) => ({ sub, day: 10 + (batch % 2), month: 1, count: batch < 2 ? -10 : 3 })),
  );
  await Promise.all(batches.map((batch, i) => node(i).addUsage(batch)));
  for (const sub of subs) {
    const { day, month } = await node(1).usage(sub, 10, 1);
    assert.equal(day, 100 + 24 * 3 - 10, sub);
    const { day: next } = await node(2).usage(sub, 11, 1);
    // The refund of the next day came before some of its counts or after them.
    assert.ok(next >= 24 * 3 - 10 && next <= 24 * 3, `${sub}: ${next}`);
    assert.equal(month, 100 + 48 * 3 - 20, sub);
  }
});

test('concurrent counting and deleting do not deadlock', async (t) => {
  const { node } = await openNodes(t);
  const subs = Array.from({ length: 30 }, (_, i) => accountOf(i).sub);
  for (const [i, sub] of subs.entries()) {
    await node(0).addAccount(accountOf(i));
    await node(0).removeAccount(sub, 1);
  }
  // Of the months 0 to 9, the first five are old, the others are reported.
  for (let month = 5; month < 10; month++) await node(0).markReported(month, 1);
  const days = Array.from({ length: 300 }, (_, i) => i);
  const batchOf = (i: number) =>
    shuffled(days, i)
      .slice(0, 20 * (1 + (i % 15)))
      .map((day) => {
        const month = new Date(day * 86_400_000).getUTCMonth();
        return { sub: subs[(day + i) % subs.length] ?? '', day, month, count: 1 };
      });
  for (let round = 0; round < 5; round++) {
    await Promise.all([
      ...Array.from({ length: 30 }, (_, i) => node(i).addUsage(batchOf(31 * round + i))),
      ...Array.from({ length: 5 }, (_, i) => node(i).deleteOldUsage({ month: 5, removedTs: 0 })),
    ]);
  }
  while ((await node(0).deleteOldUsage({ month: 5, removedTs: 0 })) > 0);
  assert.equal(await node(1).checkUsage(''), null, 'nothing is left');
});

test('one of 20 concurrent callers on several nodes starts the cleanup', async (t) => {
  const { node } = await openNodes(t);
  for (let day = 1; day < 5; day++) {
    const starts = Array.from({ length: 20 }, (_, i) => node(i).startDailyTask('usage_cleanup', day * 86_400));
    assert.equal((await Promise.all(starts)).filter(Boolean).length, 1);
  }
});

/** The same for the same seed. */
function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  const rank = (i: number) => ((i + 1) * (2 * seed + 7_919) * 2_654_435_761) % 4_294_967_291;
  return items
    .map((item, i) => ({ item, rank: rank(i) }))
    .sort((x, y) => x.rank - y.rank)
    .map(({ item }) => item);
}

test('one of 20 concurrent callers on several nodes gets the lease of a feed', async (t) => {
  const { node } = await openNodes(t);
  await node(0).addFeed(feedOf({ name: 'haus' }));
  for (let nowTs = 100; nowTs < 1_000; nowTs += 60) {
    const lease = { nowTs, untilTs: nowTs + 60 };
    const leases = Array.from({ length: 20 }, (_, i) => node(i).leaseFeed('haus', `${nowTs} ${i}`, lease));
    assert.equal((await Promise.all(leases)).filter(Boolean).length, 1);
  }
});

test('imports that several nodes start concurrently have different ids', async (t) => {
  const { node } = await openNodes(t);
  const start = { format: 'f', feed: 'haus', source: 's', startedTs: 1 };
  const ids = await Promise.all(Array.from({ length: 130 }, (_, i) => node(i).importStarted(start)));
  assert.equal(new Set(ids).size, 130);
  const last = await node(0).importStarted({ ...start, startedTs: 200 }); // the others are not running any more
  const kept = (await node(1).imports({ feed: 'haus', limit: 1_000 })).map(({ id }) => id);
  assert.deepEqual(kept, [last, ...ids.sort((a, b) => b - a)].slice(0, 100));
});

function codeOf(error: { code?: string }): string {
  return String(error.code);
}
