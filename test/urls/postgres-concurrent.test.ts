import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import postgres from 'postgres';
import { openPostgresIntelligence } from '../../src/app/postgres-stores.ts';
import { type Intelligence, openIntelligence } from '../../src/app/stores.ts';
import type { Observation } from '../../src/core/observation.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { DAY, find, hashOf, NEW_YEAR, seen } from './contract/observations.ts';
import { historyOf, lastOf } from './results.ts';

const T = NEW_YEAR;
const ROUNDS = 40;
const URLS = 12;

/** An operation on a store; each round has its own URLs, files and feeds. */
type Step = (store: Intelligence) => Promise<unknown>;

test('concurrent batches of several nodes have the result of some serial order', async (t) => {
  const world = await openWorld(t);
  for (let round = 0; round < ROUNDS; round++) {
    const apply = (node: number): Step => {
      const batch = batchOf(round, node);
      return (store) => store.apply(batch);
    };
    await world.play(round, [async () => {}, apply(1), apply(2), apply(3)]);
  }
});

test('of batches of one node that add the same hosts none is repeated', async (t) => {
  const url = await temporaryDatabase(t);
  const store = await openPostgresIntelligence({ url, readUrls: [], connections: 4 });
  t.after(() => store.close());
  const sql = postgres(url, { max: 1 });
  t.after(() => sql.end());
  for (let round = 0; round < ROUNDS; round++) {
    const batch = (path: number) =>
      Array.from({ length: 50 }, (_, i) => seen({ ts: T, url: `http://www.host${i}-${round}.example/${path}` }));
    await Promise.all([1, 2, 3, 4].map((path) => store.apply(batch(path))));
  }
  const [counts] = await sql`
    select (select count(*) from urls)::int as urls, (select last_value from urls_id_seq)::int as taken,
      (select count(*) from hosts)::int as hosts`;
  assert.deepEqual({ ...counts }, { urls: ROUNDS * 200, taken: ROUNDS * 200, hosts: ROUNDS * 50 });
});

test('a batch that begins again is not kept from a connection by batches that wait for it', async (t) => {
  const url = await temporaryDatabase(t);
  const store = await openPostgresIntelligence({ url, readUrls: [], connections: 2 });
  t.after(() => store.close());
  const sql = postgres(url, { max: 2 });
  t.after(() => sql.end());
  const apply = (...places: string[]) => store.apply(places.map((place) => seen({ ts: T, url: `http://${place}` })));
  const untilWaiting = (state: string) =>
    until(async () => {
      const rows = await sql`
        select from pg_stat_activity
        where application_name = 'urlwarden' and datname = current_database() and state = ${state}
          and (state <> 'active' or wait_event_type = 'Lock')`;
      return rows.length === 1;
    }, state);
  await apply('first.example/'); // with the reporter, for which batches would wait in the database
  let batches: Promise<unknown>[] = [];
  // The first batch fails when this is committed, because it adds the same domain.
  await sql.begin(async (other) => {
    await other`insert into domains (name) values ('conflict.example')`;
    batches = [apply('conflict.example/', 'same.example/1')];
    await untilWaiting('active');
    batches.push(apply('same.example/2'));
    await untilWaiting('idle in transaction');
    batches.push(apply('same.example/3'));
  });
  await Promise.all(batches);
  assert.equal((await sql`select from urls`).length, 5);
});

test('an import writes two large batches at a time, or one for each connection; a server leaves its connections to lookups', async (t) => {
  const databaseUrl = await temporaryDatabase(t);
  const batchesOf = async (databaseConnections: number, isForImport: boolean) => {
    const store = await openIntelligence({ dataDir: '', databaseUrl, databaseConnections }, { isForImport });
    t.after(() => store.close());
    return store.importBatches;
  };
  assert.deepEqual(await batchesOf(10, true), { size: 6_000, inFlight: 2 });
  assert.deepEqual(await batchesOf(1, true), { size: 6_000, inFlight: 1 });
  assert.equal(await batchesOf(10, false), undefined);
});

test('a listing that is finished during batches with its URLs has the result of some serial order', async (t) => {
  const world = await openWorld(t);
  for (let round = 0; round < ROUNDS; round++) {
    const listing = (ts: number) => ({ feed: `feed ${round}`, ts: T + ts });
    // A long batch: the listing is finished during it, at another point in every round.
    const many = Array.from({ length: 400 }, (_, i) => seen({ ts: T, url: `http://many${i}.example/${round}` }));
    const [listed, again] = [[...batchOf(round, 1), ...many], batchOf(round, 2)];
    await world.play(round, [
      (store) => store.finishListing(listing(0)),
      (store) => store.apply(listed, listing(10 * DAY)),
      async (store) => {
        await setTimeout((round % 10) * 5);
        return store.finishListing(listing(20 * DAY));
      },
      (store) => store.apply(again),
    ]);
  }
});

test('a listing that is finished locks its URLs in the order of batches', async (t) => {
  const url = await temporaryDatabase(t);
  const store = await openPostgresIntelligence({ url, readUrls: [], connections: 1 });
  t.after(() => store.close());
  const listing = (ts: number) => ({ feed: 'feed', ts: T + ts });
  for (const name of 'abcdef') await store.apply([seen({ ts: T, url: `http://${name}.example/` })], listing(0));
  const sql = postgres(url, { max: 1 });
  t.after(() => sql.end());
  const byKey = (await sql`select id from urls order by url_key`).map(({ id }) => Number(id));
  const last = byKey.at(-1) ?? 0;
  assert.notEqual(last, Math.max(...byKey), 'the order of ids is another');
  let finished: Promise<unknown> = Promise.resolve();
  await sql.begin(async (transaction) => {
    await transaction`select from urls where id = ${last} for update`;
    finished = store.finishListing(listing(DAY));
    const waiting = () => transaction`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await until(async () => (await waiting()).length > 0, 'the listing waits for the last URL');
    assert.deepEqual([...(await transaction`select id from urls where id <> ${last} for update skip locked`)], []);
  });
  assert.deepEqual(await finished, { wentOffline: 6 });
});

test('two listings of a feed that are finished concurrently have the result of some serial order', async (t) => {
  const world = await openWorld(t);
  for (let round = 0; round < ROUNDS; round++) {
    const listing = (ts: number) => ({ feed: `feed ${round}`, ts: T + ts });
    await world.play(round, [
      (store) => store.apply(batchOf(round, 1), listing(0)),
      (store) => store.finishListing(listing(20 * DAY)),
      (store) => store.finishListing(listing(10 * DAY)),
      (store) => store.apply(batchOf(round, 2), listing(5 * DAY)),
    ]);
  }
});

test('a family that becomes known during batches is set in all payloads of its file', async (t) => {
  const { nodes } = await openWorld(t);
  for (let round = 0; round < ROUNDS; round++) {
    const sha256 = round.toString(16).padStart(64, '0');
    const unknown = { mimeType: null, fileType: null, fileExt: null, fileSize: null, fileName: null };
    const payloads = (name: string) =>
      Array.from({ length: 50 }, (_, i) =>
        seen({ ts: T, url: `http://${name}${i}.example/${round}`, payload: { sha256 } }),
      );
    await Promise.all([
      nodes[0]?.apply(payloads('a')),
      nodes[1]?.applyFiles([{ ...unknown, sha256, family: `Family ${round}` }]),
      nodes[2]?.apply(payloads('b')),
    ]);
    assert.equal((await find(nodes[0] as Intelligence, 'malware_family', `family ${round}`)).length, 100);
  }
});

/** Three nodes on one PostgreSQL, and one SQLite store for each order of three steps. */
async function openWorld(t: TestContext) {
  const url = await temporaryDatabase(t);
  const nodes = await Promise.all([1, 2, 3].map(() => openPostgresIntelligence({ url, readUrls: [], connections: 2 })));
  // The most frequent first: each round has its own data, so no other is played once one has the result.
  const orders = [
    [1, 2, 0],
    [2, 1, 0],
    [1, 0, 2],
    [0, 2, 1],
    [2, 0, 1],
    [0, 1, 2],
  ];
  const serial = await Promise.all(orders.map(() => openIntelligence({ dataDir: temporaryFolder(t) })));
  t.after(() => Promise.all([...nodes, ...serial].map((store) => store.close())));
  return {
    nodes,
    /** The first step is before all others, which are concurrent on PostgreSQL. */
    async play(round: number, [first, ...steps]: [Step, ...Step[]]): Promise<void> {
      await first(nodes[0] as Intelligence);
      await Promise.all(steps.map((step, i) => step(nodes[i] as Intelligence)));
      const results = await resultsOf(nodes[0] as Intelligence, round);
      const expected: string[] = [];
      for (const [i, store] of serial.entries()) {
        await first(store);
        for (const step of orders[i] ?? []) await steps[step]?.(store);
        expected.push(await resultsOf(store, round));
        if (expected.at(-1) === results) return;
      }
      assert.fail(`round ${round}: ${results}\nis not one of\n${expected.join('\n')}`);
    },
  };
}

/** The observations of a node in a round; each node has other statuses, times and details of files. */
function batchOf(round: number, node: number): Observation[] {
  const statuses = ['online', 'offline', 'removed', 'online'] as const;
  return Array.from({ length: 3 * URLS }, (_, i) => {
    const status = statuses[(i * node + round) % statuses.length] ?? 'online';
    const at = (i * 7 + node) % URLS;
    return seen({
      ts: T + ((i * 5 + node * 3 + round) % 25) * DAY,
      url: urlOf(round, at),
      status,
      ...(status === 'removed' && { removal: `reason ${node}` }),
      reporter: `node ${node} of ${round}`,
      ip: addressOf(round, at),
      ...(i % 3 === node && { asn: 64500 + node }),
      payload: {
        sha256: `${hashOf('f').slice(4)}${(round * 4 + (i % 4)).toString(16).padStart(4, '0')}`,
        ...detailsOf(i, node),
      },
    });
  });
}

function detailsOf(i: number, node: number) {
  return { ...(i % 2 === 0 && { fileName: `of ${node}` }), ...(i % 5 === node && { family: `Family ${node}` }) };
}

function urlOf(round: number, i: number): string {
  return i % 2 === 0 ? `http://${addressOf(round, i)}/` : `http://host${i}.example/${round}`;
}

function addressOf(round: number, i: number): string {
  return `10.${round}.0.${i}`;
}

/** All that a store returns for the URLs of a round, without ids. */
async function resultsOf(store: Intelligence, round: number): Promise<string> {
  const urls = Array.from({ length: URLS }, (_, i) => urlOf(round, i));
  const histories = await Promise.all(urls.map((url) => historyOf(store, url, 1_000)));
  const last = await Promise.all(urls.map((url) => lastOf(store, url)));
  const resolutions = await find(store, 'ip', `10.${round}.0.0/16`);
  const networks = [];
  for (const asn of [64501, 64502, 64503])
    networks.push(
      (await find(store, 'asn', asn)).filter((fact) => fact.includes(`10.${round}.`) || fact.endsWith(`/${round}`)),
    );
  const withoutIds = [...histories, ...last].map((one) => one && { ...one, id: null });
  return JSON.stringify([withoutIds, resolutions, networks]);
}
