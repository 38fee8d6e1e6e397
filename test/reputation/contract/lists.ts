import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Intelligence } from '../../../src/app/stores.ts';
import type { DomainFact, ListEntry } from '../../../src/core/evidence.ts';
import { formatKeyNetwork } from '../../../src/core/ip/key-network.ts';
import { DAY, listed, networkOf, T } from './evidence.ts';
import type { OpenStore } from './index.ts';

const allowed = (cidr: string, given: { ts?: number; source?: string; reason?: string } = {}): ListEntry => ({
  as: 'allow',
  network: networkOf(cidr),
  source: 'list',
  ts: T,
  reason: '',
  ...given,
});
const popular = (name: string, ts = T): ListEntry => ({ as: 'popular', name, source: 'list', ts });

export function listsSuite(open: OpenStore): void {
  suite('lists', () => {
    test('keep the newest version of an entry, in any order', async (t) => {
      const store = await open(t);
      const entries = [
        allowed('192.0.2.0/24', { ts: T + DAY, reason: 'b' }),
        allowed('192.0.2.0/24', { ts: T + DAY, reason: 'a' }),
        allowed('192.0.2.0/24', { ts: T, reason: 'old' }),
        allowed('192.0.2.0/24', { source: 'other', reason: 'of another list' }),
        allowed('2001:db8::/32'),
      ];
      for (const entry of entries) await store.applyLists([entry]);
      assert.equal(await store.applyLists(entries.toReversed()), 0);
      const expected = ['192.0.2.0/24 list 1 b', '192.0.2.0/24 other 0 of another list', '2001:db8::/32 list 0'];
      assert.deepEqual(await entriesOf(store), expected);
      const copy = await open(t);
      assert.equal(await copy.applyLists(entries.toReversed()), 3);
      assert.deepEqual(await entriesOf(copy), expected);
    });

    test('a finished list has only the entries of its new version', async (t) => {
      const store = await open(t);
      const names = Array.from({ length: 5_100 }, (_, i) => popular(`name${i}.example`));
      await store.applyLists([allowed('192.0.2.0/24'), allowed('198.51.100.0/24'), ...names]);
      await store.applyLists([allowed('203.0.113.0/24', { source: 'other' })]);
      assert.equal(
        await store.applyLists([allowed('192.0.2.0/24', { ts: T + DAY }), popular('name7.example', T + DAY)]),
        2,
      );
      assert.deepEqual(await store.listEffect('list', T + DAY), { entries: 2 + 5_100, missing: 1 + 5_099 });
      assert.deepEqual(await store.listEffect('unknown', T + DAY), { entries: 0, missing: 0 });
      assert.equal(await store.finishList('list', T + DAY), 1 + 5_099);
      assert.deepEqual(await store.listEffect('list', T + DAY), { entries: 2, missing: 0 });
      assert.equal(await store.finishList('list', T + DAY), 0);
      assert.equal(await store.finishList('unknown', T + DAY), 0);
      assert.deepEqual(await entriesOf(store), ['192.0.2.0/24 list 1', '203.0.113.0/24 other 0']);
    });

    test('an older version of a list brings no entry back', async (t) => {
      const store = await open(t);
      const rank = (name: string, ts: number, source = 'list'): DomainFact => {
        return { ts, name: { hostname: name, domain: name }, kind: 'rank', source, rank: 5 };
      };
      const version = async (ts: number, labels: string[]) => {
        await store.applyLists(
          labels.flatMap((i) => [allowed(`192.0.2.${i}`, { ts }), popular(`name${i}.example`, ts)]),
        );
        await store.applyDomains(
          [],
          labels.map((i) => rank(`ranked${i}.example`, ts)),
        );
        await store.finishList('list', ts);
      };
      const names = async () => {
        const all = ['1', '2', '3'].flatMap((i) => [`name${i}.example`, `ranked${i}.example`]);
        return [...(await store.nameLists(all)).keys()].sort();
      };
      const newest = ['192.0.2.1 list 2', '192.0.2.2 list 2'];
      const named = ['name1.example', 'name2.example', 'ranked1.example', 'ranked2.example'];
      await version(T, ['1', '3']);
      await version(T + 2 * DAY, ['1', '2']);
      assert.deepEqual([await entriesOf(store), await names()], [newest, named]);
      const before = await store.listVersion();
      await version(T + DAY, ['1', '3']);
      assert.deepEqual([await entriesOf(store), await names()], [newest, named]);
      assert.equal(await store.listVersion(), before);
      // Nor if no entry of the newest version is left.
      for (const i of ['1', '2']) await store.removeAllowEntries(networkOf(`192.0.2.${i}`));
      await version(T + DAY, ['3']);
      assert.deepEqual(await entriesOf(store), []);
      // The version that was not finished may be incomplete.
      await store.applyLists([allowed('192.0.2.4', { ts: T + 4 * DAY })]);
      await version(T + 3 * DAY, ['1']);
      assert.deepEqual(await entriesOf(store), ['192.0.2.1 list 3', '192.0.2.4 list 4']);
      await store.applyLists([allowed('192.0.2.9', { source: 'other' })]);
      assert.equal((await entriesOf(store)).length, 3, 'of another source');
    });

    test('the entries of a network are removed from all allow lists', async (t) => {
      const store = await open(t);
      const network = networkOf('192.0.2.0/24');
      const shared: ListEntry = { as: 'shared', network, source: 'shared', ts: T, reason: '' };
      const both = [allowed('192.0.2.0/24'), allowed('192.0.2.0/24', { source: 'other' })];
      await store.applyLists([...both, allowed('192.0.2.0/25'), shared]);
      assert.equal(await store.removeAllowEntries(network), 2);
      assert.deepEqual(await entriesOf(store), ['192.0.2.0/25 list 0', '192.0.2.0/24 shared 0']);
      assert.equal(await store.removeAllowEntries(network), 0);
    });

    test('removals of listings are kept, the newest settings of each', async (t) => {
      const store = await open(t);
      await store.applyListings([listed('192.0.2.1')]);
      const removal = { network: networkOf('192.0.2.1'), dataset: 'DROP', sourceId: 1, removedTs: T } as const;
      await store.removeListings([{ ...removal, untilTs: T + DAY, reason: 'first' }]);
      await store.removeListings([
        { ...removal, untilTs: T + 2 * DAY, reason: 'longer' },
        { ...removal, sourceId: 0, dataset: 'XBL', untilTs: T + DAY, reason: '' },
      ]);
      const { removals } = await store.addressLists();
      const texts = removals.map((one) =>
        [one.dataset, one.sourceId, one.removedTs, one.untilTs, one.reason].join(' '),
      );
      assert.deepEqual(texts, [`XBL 0 ${T} ${T + DAY} `, `DROP 1 ${T} ${T + 2 * DAY} longer`]);
      assert.equal(formatKeyNetwork(removals[0]?.network ?? networkOf('::')), '192.0.2.1');
    });

    test('the version grows with every change, and only then', async (t) => {
      const store = await open(t);
      const source = { name: 'list', trustPermille: 500, lifeSeconds: 30 * DAY, intervalSeconds: null };
      const removal = { network: networkOf('192.0.2.1'), dataset: 'DROP', sourceId: 1, removedTs: T } as const;
      const changes: (() => Promise<unknown>)[] = [
        () => store.applyLists([allowed('192.0.2.0/24')]),
        () => store.finishList('list', T + 1),
        () => store.applyLists([allowed('192.0.2.0/24', { ts: T + 1 })]),
        () => store.removeAllowEntries(networkOf('192.0.2.0/24')),
        () => store.removeListings([{ ...removal, untilTs: T, reason: '' }]),
        () => store.putSources([source]),
      ];
      let version = await store.listVersion();
      for (const change of changes) {
        await change();
        const next = await store.listVersion();
        assert.ok(next > version, String(change));
        version = next;
      }
      await store.putSources([source]);
      await store.applyLists([popular('name.example')]);
      await store.finishList('list', T);
      await store.removeAllowEntries(networkOf('192.0.2.0/24'));
      await store.applyListings([listed('192.0.2.1')]);
      assert.equal(await store.listVersion(), version);
    });

    test('the longest life of all sources', async (t) => {
      const store = await open(t);
      const longest = async () => (await store.addressLists()).longestLifeSeconds / DAY;
      assert.equal(await longest(), 7);
      const source = { trustPermille: 500, lifeSeconds: null, intervalSeconds: null };
      await store.putSources([{ ...source, name: 'weekly', intervalSeconds: 7 * DAY }]);
      assert.equal(await longest(), 21);
      await store.putSources([{ ...source, name: 'own', lifeSeconds: 30 * DAY }]);
      assert.equal(await longest(), 30);
    });
  });
}

async function entriesOf(store: Intelligence): Promise<string[]> {
  const { entries } = await store.addressLists();
  return entries.map(({ network, source, ts, reason }) =>
    `${formatKeyNetwork(network)} ${source} ${(ts - T) / DAY} ${reason}`.trimEnd(),
  );
}
