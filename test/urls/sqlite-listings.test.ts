import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { openIntelligence } from '../../src/app/stores.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { seen } from './contract/observations.ts';

const URLS = 5_000;

test('an interrupted listing is finished with the next one of the feed, with its own time', async (t) => {
  const { store, interrupt, eventTimes } = await listedStore(t);
  const before = await interrupt(20);
  assert.deepEqual(await store.finishListing({ feed: 'feed', ts: 30 }), { wentOffline: URLS - before });
  assert.deepEqual(eventTimes(), [20]);
});

test('an interrupted late listing is finished when it is applied again', async (t) => {
  const { store, interrupt, eventTimes } = await listedStore(t);
  await store.finishListing({ feed: 'feed', ts: 40 });
  await interrupt(20);
  assert.deepEqual(eventTimes(), [20, 40]);
  assert.deepEqual(await store.finishListing({ feed: 'feed', ts: 20 }), { wentOffline: 0 });
  assert.deepEqual(eventTimes(), [20]);
});

/** A store with many URLs that a feed listed at 10. */
async function listedStore(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const store = await openIntelligence({ dataDir });
  t.after(() => store.close());
  const all = Array.from({ length: URLS }, (_, i) => seen({ ts: 10, url: `http://a.example/${i}` }));
  await store.apply(all, { feed: 'feed', ts: 10 });
  const db = new DatabaseSync(join(dataDir, 'intelligence.db'));
  t.after(() => db.close());
  return {
    store,
    eventTimes: () =>
      db
        .prepare('select distinct event_ts as ts from urls order by ts')
        .all()
        .map(({ ts }) => ts),

    /** Interrupts the finishing of a listing; returns how many URLs are offline at its time by then. */
    async interrupt(ts: number): Promise<number> {
      db.exec(`create trigger cut before update on listed when new.url_id = ${URLS - 1}
        begin select raise(abort, 'interrupted'); end`);
      await assert.rejects(store.finishListing({ feed: 'feed', ts }), /interrupted/);
      db.exec('drop trigger cut');
      const row = db.prepare('select count(*) as count from urls where event_kind = 2 and event_ts = ?').get(ts);
      assert.ok(
        Number(row?.count) > 0 && Number(row?.count) < URLS,
        `${row?.count} went offline before the interruption`,
      );
      return Number(row?.count);
    },
  };
}
