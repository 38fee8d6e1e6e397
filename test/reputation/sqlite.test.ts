import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Intelligence, openIntelligence } from '../../src/app/stores.ts';
import type { AddressDataset, ListEntry } from '../../src/core/evidence.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { PAGE_ROWS, runSteps } from '../../src/database/pages.ts';
import { openReader } from '../../src/database/sqlite/database.ts';
import { createDerivedListings } from '../../src/reputation/sqlite/derived.ts';
import type { StoredListing } from '../../src/reputation/store.ts';
import { emptyDataFolder } from '../empty-folder.ts';
import { NEW_YEAR, seen } from '../urls/contract/observations.ts';
import { listed, networkOf } from './contract/evidence.ts';
import { reputationContract } from './contract/index.ts';

reputationContract(async (t) => {
  const store = await openIntelligence({ dataDir: emptyDataFolder(t) });
  t.after(() => store.close());
  return store;
});

test('between pages of the listings of one address, other requests are answered', async (t) => {
  const store = await openIntelligence({ dataDir: emptyDataFolder(t) });
  t.after(() => store.close());
  await store.applyListings(
    Array.from({ length: 3 * PAGE_ROWS }, (_, i) => listed('192.0.2.1', { dataset: 'BCL', port: i + 1 })),
  );
  await assertPages(store, 'BCL');
});

test('between pages of the events of one address, other requests are answered, also if almost all are offline', async (t) => {
  const store = await openIntelligence({ dataDir: emptyDataFolder(t) });
  t.after(() => store.close());
  const online = PAGE_ROWS / 2; // the first event of the second page: an offline URL has two
  const statusOf = (i: number) => (i === online ? 'online' : 'offline');
  const event = (i: number) => seen({ ts: NEW_YEAR + i, url: `http://192.0.2.1/${i}`, status: statusOf(i) });
  await store.apply(Array.from({ length: 3 * PAGE_ROWS }, (_, i) => event(i)));
  const found = await assertPages(store, 'XBL');
  assert.deepEqual(
    found.map(({ listedTs }) => listedTs),
    [NEW_YEAR + online],
  );
});

test('families of older URLs at an address are not read', async (t) => {
  const dataDir = emptyDataFolder(t);
  const store = await openIntelligence({ dataDir });
  t.after(() => store.close());
  const url = (i: number) => `http://192.0.2.1/${i}`;
  const online = (i: number) => seen({ ts: NEW_YEAR + i, url: url(i), status: 'online', payload: { family: `f${i}` } });
  const count = 2 * PAGE_ROWS;
  await store.apply(Array.from({ length: count }, (_, i) => online(i)));
  // An older URL with the newest payload.
  await store.apply([seen({ ts: NEW_YEAR + count, url: url(7), payload: { family: 'Newest' } })]);
  const db = openReader(dataFiles(dataDir).intelligence);
  t.after(() => db.close());
  let reads = 0;
  const prepare: typeof db.prepare = (sql) => {
    const statement = db.prepare<never>(sql);
    if (!sql.includes('families.name')) return statement;
    return {
      ...statement,
      get(...params) {
        reads++;
        return statement.get(...params);
      },
    };
  };
  const { network } = listed('192.0.2.1');
  const listings = await runSteps(createDerivedListings({ ...db, prepare }).read(network, 0));
  assert.deepEqual(
    listings.map(({ family, listedTs, seenTs }) => [family, listedTs, seenTs]),
    [['Newest', NEW_YEAR, NEW_YEAR + count]],
  );
  assert.equal(reads, 2, 'of the newest URL, and of the one with the newest payload');
});

test('between pages of the lists of networks, other requests are answered', async (t) => {
  const store = await openIntelligence({ dataDir: emptyDataFolder(t) });
  t.after(() => store.close());
  const entry = (i: number, source: string): ListEntry => ({
    as: 'allow',
    network: networkOf(`2001:db8::${i.toString(16)}`),
    source,
    ts: NEW_YEAR,
    reason: '',
  });
  // Both entries of the last network of the first page, one on each side of its end.
  const given = Array.from({ length: 3 * PAGE_ROWS }, (_, i) => entry(i, 'a'));
  given.splice(PAGE_ROWS, 0, entry(PAGE_ROWS - 1, 'b'));
  await store.applyLists(given);
  const { entries } = await assertIterations(() => store.addressLists());
  assert.deepEqual(
    entries.map(({ network, source }) => [network.ip.at(-2), network.ip.at(-1), source]),
    given.map((one) => ('network' in one ? [one.network.ip.at(-2), one.network.ip.at(-1), one.source] : [])),
  );
});

function assertPages(store: Intelligence, dataset: AddressDataset): Promise<StoredListing[]> {
  const { network } = listed('192.0.2.1');
  const query = { network, inside: true, covering: true, datasets: [dataset], seenSinceTs: 0 };
  return assertIterations(async () => store.listings(query));
}

/** The event loop runs while three pages are read. */
async function assertIterations<Result>(read: () => Promise<Result>): Promise<Result> {
  let iterations = 0;
  const count = () => {
    iterations += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const found = await read();
  clearImmediate(counting);
  assert.ok(iterations >= 3, `${iterations}`);
  return found;
}
