import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Feed } from '../../../src/ingest/store.ts';
import type { OpenControl } from '../../app/control-contract.ts';
import { raisesVersion } from '../../app/control-records.ts';
import { feedOf } from '../feeds/feed-of.ts';

const HAUS = feedOf({ name: 'haus', headers: { 'Auth-Key': 'secret' }, isComplete: true, nextRunTs: 1_700_000_000 });

const FULL: Feed = {
  ...HAUS,
  name: 'full',
  headers: {},
  isComplete: false,
  isPaused: true,
  allowsPrivate: true,
  trustPermille: 250,
  lifeSeconds: 86_400,
  dataset: 'CSS',
  evidenceKind: 'phishing',
  listKind: 'shared',
  etag: '"x"',
  lastModified: 'Wed, 21 Oct 2015 07:28:00 GMT',
  lastRunTs: 1,
  lastSuccessTs: 2,
  lastError: 'The server said 500',
  failures: 3,
  rows: 4,
};

export function controlFeedsSuite(open: OpenControl): void {
  suite('feeds', () => {
    test('are added and listed by name', async (t) => {
      const control = await open(t);
      assert.deepEqual(await control.feeds(), []);
      assert.equal(await control.feed('haus'), null);
      await control.addFeed(HAUS);
      await control.addFeed(FULL);
      assert.deepEqual(await control.feeds(), [FULL, HAUS]);
    });

    test('of concurrent additions of one name, the first stays and the others are refused', async (t) => {
      const control = await open(t);
      const added = Array.from({ length: 5 }, (_, i) => ({ ...FULL, rows: i }));
      const isAdded = await Promise.all(added.map((feed) => control.addFeed(feed)));
      assert.equal(isAdded.filter(Boolean).length, 1);
      assert.deepEqual(await control.feeds(), [added[isAdded.indexOf(true)]]);
      assert.equal(await control.addFeed({ ...HAUS, name: 'full' }), false);
      assert.deepEqual(await control.feeds(), [added[isAdded.indexOf(true)]]);
    });

    test('a change sets only the given values, null included', async (t) => {
      const control = await open(t);
      await control.addFeed(FULL);
      await control.addFeed(HAUS);
      assert.equal(await control.changeFeed('full', { lastError: null, isPaused: false, headers: { a: 'b' } }), true);
      assert.deepEqual(await control.feed('full'), { ...FULL, lastError: null, isPaused: false, headers: { a: 'b' } });
      assert.deepEqual(await control.feed('haus'), HAUS);
      assert.equal(await control.changeFeed('other', { isPaused: true }), false);
    });

    test('concurrent changes of different values do not overwrite each other', async (t) => {
      const control = await open(t);
      await control.addFeed(HAUS);
      const changes = [{ rows: 7 }, { failures: 8 }, { isPaused: true }, { etag: 'e' }];
      await Promise.all(changes.map((change) => control.changeFeed('haus', change)));
      assert.deepEqual(await control.feed('haus'), { ...HAUS, rows: 7, failures: 8, isPaused: true, etag: 'e' });
    });

    test('can be removed', async (t) => {
      const control = await open(t);
      await control.addFeed(HAUS);
      assert.equal(await control.removeFeed('haus'), true);
      assert.equal(await control.removeFeed('haus'), false);
      assert.deepEqual(await control.feeds(), []);
    });

    test('a feed has one owner at a time, until its lease expires or is released', async (t) => {
      const control = await open(t);
      await control.addFeed(HAUS);
      await control.addFeed(FULL);
      const lease = (owner: string, nowTs: number) => control.leaseFeed('haus', owner, { nowTs, untilTs: nowTs + 60 });
      assert.equal(await lease('a', 100), true);
      assert.equal(await lease('b', 100), false);
      assert.equal(await lease('a', 150), true, 'its owner renews it');
      assert.equal(await lease('b', 209), false);
      assert.equal(await lease('b', 210), true, 'the lease has expired');
      await control.releaseFeed('haus', 'a');
      assert.equal(await lease('c', 211), false, 'only the owner can release it');
      await control.changeFeed('haus', { rows: 1 });
      assert.equal(await lease('c', 212), false, 'changes keep the lease');
      await control.releaseFeed('haus', 'b');
      assert.equal(await lease('c', 213), true);
      assert.equal(
        await control.leaseFeed('full', 'd', { nowTs: 213, untilTs: 300 }),
        true,
        'each feed has its own lease',
      );
      assert.equal(await control.leaseFeed('other', 'd', { nowTs: 213, untilTs: 300 }), false);
    });

    test('a lease of a clock that is far ahead does not last', async (t) => {
      const control = await open(t);
      await control.addFeed(HAUS);
      const lease = (owner: string, nowTs: number) => control.leaseFeed('haus', owner, { nowTs, untilTs: nowTs + 60 });
      await lease('ahead', 100 + 3_600);
      assert.deepEqual([await control.leasedFeeds(100), await lease('b', 100)], [['haus'], false], 'clocks may differ');
      await lease('ahead', 100 + 40 * 86_400);
      assert.deepEqual([await control.leasedFeeds(100), await lease('b', 100)], [[], true]);
      assert.equal(await lease('ahead', 130 + 40 * 86_400), true, 'for the other clock the lease has ended');
    });

    test('one of many concurrent lease requests succeeds', async (t) => {
      const control = await open(t);
      await control.addFeed(HAUS);
      const leases = Array.from({ length: 20 }, (_, i) =>
        control.leaseFeed('haus', `${i}`, { nowTs: 100, untilTs: 160 }),
      );
      assert.equal((await Promise.all(leases)).filter(Boolean).length, 1);
    });

    test('an error message may contain any character', async (t) => {
      const control = await open(t);
      await control.addFeed(HAUS);
      await control.changeFeed('haus', { lastError: 'unexpected "\0"' });
      assert.match((await control.feed('haus'))?.lastError ?? '', /^unexpected "[\0\ufffd]"$/);
    });

    test('a change of a feed does not raise the version, so cached accounts stay valid', async (t) => {
      const control = await open(t);
      assert.equal(await raisesVersion(control, () => control.addFeed(HAUS)), false);
    });
  });
}
