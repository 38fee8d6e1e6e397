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
    test('kept as they were put, replaced whole, listed by name', async (t) => {
      const control = await open(t);
      assert.deepEqual(await control.feeds(), []);
      assert.equal(await control.feed('haus'), null);
      await control.putFeed(HAUS);
      await control.putFeed(FULL);
      assert.deepEqual(await control.feeds(), [FULL, HAUS]);
      await control.putFeed({ ...FULL, name: 'haus' });
      assert.deepEqual(await control.feed('haus'), { ...FULL, name: 'haus' });
    });

    test('a change touches what it names, null included', async (t) => {
      const control = await open(t);
      await control.putFeed(FULL);
      await control.putFeed(HAUS);
      assert.equal(await control.changeFeed('full', { lastError: null, isPaused: false, headers: { a: 'b' } }), true);
      assert.deepEqual(await control.feed('full'), { ...FULL, lastError: null, isPaused: false, headers: { a: 'b' } });
      assert.deepEqual(await control.feed('haus'), HAUS);
      assert.equal(await control.changeFeed('other', { isPaused: true }), false);
    });

    test('changes of different things at once do not undo each other', async (t) => {
      const control = await open(t);
      await control.putFeed(HAUS);
      const changes = [{ rows: 7 }, { failures: 8 }, { isPaused: true }, { etag: 'e' }];
      await Promise.all(changes.map((change) => control.changeFeed('haus', change)));
      assert.deepEqual(await control.feed('haus'), { ...HAUS, rows: 7, failures: 8, isPaused: true, etag: 'e' });
    });

    test('removed', async (t) => {
      const control = await open(t);
      await control.putFeed(HAUS);
      assert.equal(await control.removeFeed('haus'), true);
      assert.equal(await control.removeFeed('haus'), false);
      assert.deepEqual(await control.feeds(), []);
    });

    test('one owner at a time has a feed, until its lease ends or is given back', async (t) => {
      const control = await open(t);
      await control.putFeed(HAUS);
      await control.putFeed(FULL);
      const lease = (owner: string, nowTs: number) => control.leaseFeed('haus', owner, { nowTs, untilTs: nowTs + 60 });
      assert.equal(await lease('a', 100), true);
      assert.equal(await lease('b', 100), false);
      assert.equal(await lease('a', 150), true, 'its owner makes it longer');
      assert.equal(await lease('b', 209), false);
      assert.equal(await lease('b', 210), true, 'the lease has ended');
      await control.releaseFeed('haus', 'a');
      assert.equal(await lease('c', 211), false, 'it was not a’s to give back');
      await control.putFeed({ ...HAUS, isPaused: true });
      await control.changeFeed('haus', { rows: 1 });
      assert.equal(await lease('c', 212), false, 'changes leave the lease alone');
      await control.releaseFeed('haus', 'b');
      assert.equal(await lease('c', 213), true);
      assert.equal(await control.leaseFeed('full', 'd', { nowTs: 213, untilTs: 300 }), true, 'each has its own');
      assert.equal(await control.leaseFeed('other', 'd', { nowTs: 213, untilTs: 300 }), false);
    });

    test('of many that ask for a feed at once, one has it', async (t) => {
      const control = await open(t);
      await control.putFeed(HAUS);
      const asked = Array.from({ length: 20 }, (_, i) =>
        control.leaseFeed('haus', `${i}`, { nowTs: 100, untilTs: 160 }),
      );
      assert.equal((await Promise.all(asked)).filter(Boolean).length, 1);
    });

    test('an error may quote anything', async (t) => {
      const control = await open(t);
      await control.putFeed(HAUS);
      await control.changeFeed('haus', { lastError: 'unexpected "\0"' });
      assert.match((await control.feed('haus'))?.lastError ?? '', /^unexpected "[\0\ufffd]"$/);
    });

    test('do not raise the version: no copy of accounts grows old', async (t) => {
      const control = await open(t);
      assert.equal(await raisesVersion(control, () => control.putFeed(HAUS)), false);
    });
  });
}
