import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AddressDataset, NetworkListKind } from '../../src/core/evidence.ts';
import { formatKeyNetwork } from '../../src/core/ip/key-network.ts';
import { createAddressListCopy } from '../../src/reputation/address-lists.ts';
import {
  type AddressQuery,
  type AddressRecord,
  compareListings,
  createAddressReport,
  type LiveListing,
} from '../../src/reputation/address-report.ts';
import type { AddressLists, ListingQuery, StoredListing } from '../../src/reputation/store.ts';
import { DAY, networkOf, T } from './contract/evidence.ts';

const SOURCE = { id: 1, name: 'feed', trustPermille: 700, lifeSeconds: null, intervalSeconds: null };

type Given = Partial<Omit<StoredListing, 'network' | 'source'>> & { source?: Partial<StoredListing['source']> };

function stored(cidr: string, { source, ...given }: Given = {}): StoredListing {
  return {
    network: networkOf(cidr),
    dataset: 'BCL',
    source: { ...SOURCE, ...source },
    family: null,
    port: null,
    listedTs: T,
    seenTs: T,
    details: '',
    ...given,
  };
}

const entry = (as: NetworkListKind, cidr: string) => ({
  as,
  network: networkOf(cidr),
  source: 'list',
  ts: T,
  reason: '',
});
const removal = (cidr: string, removedTs: number, untilTs: number, dataset: AddressDataset = 'BCL') => ({
  network: networkOf(cidr),
  dataset,
  sourceId: 1,
  removedTs,
  untilTs,
  reason: '',
});

type World = { rows: StoredListing[]; lists?: Partial<AddressLists>; nowTs?: number; isReal?: boolean };

/** A report on rows that a store would have found. `isReal`: reserved ranges are not answered, as on a real server. */
function reportOf({ rows, lists = {}, nowTs = T, isReal = false }: World) {
  const asked: ListingQuery[] = [];
  const store = {
    listings: (query: ListingQuery) => {
      asked.push(query);
      return rows;
    },
    listVersion: () => 1,
    addressLists: async () => ({ version: 1, entries: [], removals: [], longestLifeSeconds: 7 * DAY, ...lists }),
  };
  const options = { store, lists: createAddressListCopy(store, { nowMs: () => 0 }), now: () => nowTs };
  return { asked, ...createAddressReport({ ...options, allowReserved: !isReal }) };
}

const QUERY: Omit<AddressQuery, 'network'> = {
  datasets: ['BCL'],
  mode: 'listed',
  type: 'live',
  sinceTs: null,
  untilTs: null,
  limit: 500,
};

async function find(world: World, cidr: string, given: Partial<AddressQuery> = {}): Promise<string[]> {
  const records = await reportOf(world).records({ ...QUERY, network: networkOf(cidr), ...given });
  return records.map(shown);
}

function shown({
  network,
  dataset,
  source,
  removedTs,
}: AddressRecord | (LiveListing & { removedTs?: number })): string {
  const removed = removedTs === null || removedTs === undefined ? '' : ` removed ${(removedTs - T) / DAY}`;
  return `${formatKeyNetwork(network)} ${dataset} ${source}${removed}`;
}

suite('records of an address', () => {
  test('live until the life of the source or the dataset is over', async () => {
    const rows = [
      stored('192.0.2.1'),
      stored('192.0.2.1', { dataset: 'CSS' }),
      stored('192.0.2.1', { dataset: 'XBL', source: { lifeSeconds: 10 * DAY, name: 'long' } }),
    ];
    const at = (nowTs: number) => find({ rows, nowTs }, '192.0.2.1');
    assert.equal((await at(T + 3 * DAY - 1)).length, 3);
    assert.deepEqual(await at(T + 3 * DAY), ['192.0.2.1 BCL feed', '192.0.2.1 XBL long']);
    assert.deepEqual(await at(T + 7 * DAY), ['192.0.2.1 XBL long']);
    assert.deepEqual(await at(T + 10 * DAY), []);
  });

  test('of very many the newest, without comparing all of them with each other', async () => {
    const count = 4_096;
    let reads = 0;
    const rows = Array.from({ length: count }, (_, i) => {
      const seenTs = T + (((i * 997) % count) >>> 1); // two of each time
      const get = () => {
        reads++;
        return seenTs;
      };
      return Object.defineProperty(stored('192.0.2.1', { port: i }), 'seenTs', { get });
    });
    const world = reportOf({ rows });
    const newest = await world.records({ ...QUERY, network: networkOf('192.0.2.1'), limit: 5 });
    assert.ok(reads < 10 * count, `${reads / count} for each`);
    const expected = rows.sort(compareListings).slice(0, 5);
    assert.deepEqual(
      newest.map(({ details }) => details.dstport),
      expected.map(({ port }) => port),
    );
  });

  test('history has what was seen in the window, both ends included', async () => {
    const rows = [0, 1, 2, 3].map((day) => stored(`192.0.2.${day}`, { seenTs: T + day * DAY }));
    const given = { type: 'history', sinceTs: T + DAY, untilTs: T + 2 * DAY } as const;
    const world = { rows, nowTs: T + 300 * DAY };
    assert.deepEqual(await find(world, '192.0.2.0/24', given), ['192.0.2.2 BCL feed', '192.0.2.1 BCL feed']);
  });

  test('have all that the evidence says', async () => {
    const row = stored('192.0.2.1', {
      family: 'Mirai',
      port: 443,
      details: '{"abused":true,"cc":"NL"}',
      listedTs: T - DAY,
    });
    const lists = { entries: [entry('shared', '192.0.2.0/24')] };
    const rows = [row, stored('192.0.2.1', { family: 'Unnamed' })];
    const [record, bare] = await reportOf({ rows, lists }).records({ ...QUERY, network: row.network });
    assert.deepEqual(record, {
      network: row.network,
      dataset: 'BCL',
      listedTs: T - DAY,
      seenTs: T,
      validUntilTs: T + 7 * DAY,
      botname: 'Mirai',
      source: 'feed',
      details: { abused: true, cc: 'NL', dstport: 443 },
      isShared: true,
      removedTs: null,
    });
    assert.deepEqual(bare?.details, {});
  });

  test('only controllers are shared', async () => {
    const rows = [stored('192.0.2.1', { dataset: 'XBL' }), stored('198.51.100.1')];
    const lists = { entries: [entry('shared', '192.0.2.0/24')] };
    const records = await reportOf({ rows, lists }).records({ ...QUERY, network: networkOf('192.0.2.1') });
    assert.deepEqual(
      records.map(({ isShared }) => isShared),
      [false, false],
    );
  });

  test('newest first, then by address, dataset and source, up to the limit', async () => {
    const rows = [
      stored('192.0.2.9', { seenTs: T + 1 }),
      stored('192.0.2.1', { dataset: 'XBL' }),
      stored('192.0.2.1', { source: { name: 'b' } }),
      stored('192.0.2.1', { source: { name: 'a' } }),
      stored('192.0.2.0/24', { dataset: 'DROP' }),
    ];
    const expected = ['192.0.2.9 BCL feed', '192.0.2.0/24 DROP feed', '192.0.2.1 BCL a', '192.0.2.1 BCL b'];
    assert.deepEqual(await find({ rows }, '192.0.2.0/24', { limit: 4 }), expected);
    assert.deepEqual(await find({ rows: rows.toReversed() }, '192.0.2.0/24', { limit: 4 }), expected);
  });

  test('of one source by family, port and the time of the listing, so that the order is the same on every node', () => {
    const listings = [
      stored('192.0.2.1'),
      stored('192.0.2.1', { port: 0 }),
      stored('192.0.2.1', { family: 'a', port: 80 }),
      stored('192.0.2.1', { family: 'a', port: 443, listedTs: T - 1 }),
      stored('192.0.2.1', { family: 'a', port: 443 }),
      stored('192.0.2.1', { family: 'b', port: 1 }),
    ];
    assert.deepEqual(listings.toReversed().sort(compareListings), listings);
  });

  test('an allowed address is never returned, a network around it is', async () => {
    const rows = [stored('192.0.2.1'), stored('192.0.2.7'), stored('192.0.2.0/24', { dataset: 'DROP' })];
    const lists = { entries: [entry('allow', '192.0.2.0/30'), entry('allow', '::/16')] };
    const world = { rows, lists };
    assert.deepEqual(await find(world, '192.0.2.0/24'), ['192.0.2.0/24 DROP feed', '192.0.2.7 BCL feed']);
    assert.deepEqual(await find(world, '192.0.2.1'), []);
    assert.deepEqual(await find(world, '192.0.2.1', { mode: 'listings' }), []);
    assert.deepEqual(await reportOf(world).liveListings(networkOf('192.0.2.1').ip, ['BCL'], T), []);
  });

  test('an allowed IPv6 address is not listed by a network around it, although it stands for its /64', async () => {
    const rows = ['2600::/32', '2600::/64', '2600::/96', '2600::1', '2600::2'].map((cidr) => stored(cidr));
    const lists = { entries: [entry('allow', '2600::1')] };
    const ask = (asked: string) => find({ rows, lists }, '2600::/64', { asked: networkOf(asked) });
    assert.deepEqual(await ask('2600::1'), ['2600::2 BCL feed']);
    const others = ['2600::/32 BCL feed', '2600::/64 BCL feed', '2600::/96 BCL feed', '2600::2 BCL feed'];
    assert.deepEqual(await ask('2600::2'), others);
    assert.deepEqual(await ask('2600::/64'), others);
  });

  test('reserved ranges are never returned unless the server accepts them', async () => {
    for (const cidr of ['10.1.2.3', '192.168.0.0/24', '203.0.113.7', '224.0.0.1', '2001:db8::/64', 'fe80::1']) {
      const rows = [stored(cidr)];
      assert.deepEqual(await find({ rows, isReal: true }, cidr), [], cidr);
      assert.deepEqual(await find({ rows }, cidr), [`${cidr} BCL feed`]);
    }
    for (const cidr of ['8.8.8.8', '100.0.0.0/24', '2600::/64']) {
      assert.deepEqual(await find({ rows: [stored(cidr)], isReal: true }, cidr), [`${cidr} BCL feed`]);
    }
  });
});

suite('removed listings', () => {
  const seen = (day: number) => [stored('192.0.2.1', { listedTs: T, seenTs: T + day * DAY })];
  const lists = { removals: [removal('192.0.2.1', T + 2 * DAY, T + 3 * DAY)] };
  const live = (rows: StoredListing[], day: number) => find({ rows, lists, nowTs: T + day * DAY }, '192.0.2.1');
  const history = (rows: StoredListing[]) => find({ rows, lists }, '192.0.2.1', { type: 'history' });

  test('are not live, and say when they were removed', async () => {
    assert.deepEqual(await live(seen(1), 2), []);
    assert.deepEqual(await history(seen(1)), ['192.0.2.1 BCL feed removed 2']);
  });

  test('have the time of the newest of several removals', async () => {
    const removals = [...lists.removals, removal('192.0.2.1', T + 3 * DAY, T + 3 * DAY)];
    for (const some of [removals, removals.toReversed()]) {
      const world = { rows: seen(1), lists: { removals: some } };
      assert.deepEqual(await find(world, '192.0.2.1', { type: 'history' }), ['192.0.2.1 BCL feed removed 3']);
    }
  });

  test('do not come back before the end of the removal, but after it', async () => {
    assert.deepEqual(await live(seen(3), 3), []);
    assert.deepEqual(await live(seen(3 + 1 / DAY), 4), ['192.0.2.1 BCL feed']);
    // A listing that begins after the removal.
    const later = [stored('192.0.2.1', { listedTs: T + 2.5 * DAY, seenTs: T + 2.5 * DAY })];
    assert.deepEqual(await live(later, 3), []);
  });

  test('a listing that had expired before is not a removed one', async () => {
    assert.deepEqual(await history(seen(-5)), ['192.0.2.1 BCL feed']);
  });

  test('other networks, datasets and sources stay', async () => {
    const rows = [
      stored('192.0.2.1', { dataset: 'XBL' }),
      stored('192.0.2.1', { source: { id: 2, name: 'other' } }),
      stored('192.0.2.0/24'),
    ];
    const expected = ['192.0.2.0/24 BCL feed', '192.0.2.1 BCL other', '192.0.2.1 XBL feed'];
    assert.deepEqual(await live(rows, 2), expected);
  });
});

test('which listings the store is asked for', async () => {
  const { asked, records, liveListings } = reportOf({ rows: [], nowTs: T });
  const ask = (cidr: string, given: Partial<AddressQuery> = {}) =>
    records({ ...QUERY, network: networkOf(cidr), ...given });
  await ask('192.0.2.1');
  await ask('192.0.2.0/24');
  await ask('2001:db8::/64');
  await ask('2001:db8::/63');
  await ask('192.0.2.1', { mode: 'listings', type: 'history', sinceTs: T - 30 * DAY });
  await liveListings(networkOf('192.0.2.1').ip, ['BCL'], T);
  const summary = asked.map(({ network, inside, covering, seenSinceTs }) =>
    [formatKeyNetwork(network), inside && 'inside', covering && 'covering', (seenSinceTs - T) / DAY].join(' '),
  );
  assert.deepEqual(summary, [
    '192.0.2.1 inside covering -7',
    '192.0.2.0/24 inside false -7',
    '2001:db8::/64 inside covering -7',
    '2001:db8::/63 inside false -7',
    '192.0.2.1 false covering -30',
    '192.0.2.1 inside covering -7',
  ]);
});

test('the listings of an address for a score', async () => {
  const rows = [stored('192.0.2.1'), stored('192.0.2.0/24', { dataset: 'CSS' })];
  const live = await reportOf({ rows, nowTs: T + 3 * DAY }).liveListings(
    networkOf('192.0.2.1').ip,
    ['BCL', 'CSS'],
    T + 3 * DAY,
  );
  assert.deepEqual(live, [
    {
      network: networkOf('192.0.2.1'),
      dataset: 'BCL',
      seenTs: T,
      validUntilTs: T + 7 * DAY,
      source: 'feed',
      trustPermille: 700,
    },
  ]);
});
