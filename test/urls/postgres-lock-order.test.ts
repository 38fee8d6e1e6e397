import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openPostgresIntelligence } from '../../src/app/postgres-stores.ts';
import { type Database, openDatabase, type Session } from '../../src/database/postgres/database.ts';
import { createLock, inOrder, LOCK_ORDER } from '../../src/database/postgres/lock-order.ts';
import { createUrlStore } from '../../src/urls/postgres/store.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';
import { hashOf, NEW_YEAR, seen } from './contract/observations.ts';

const T = NEW_YEAR;

test('all steps are started in the order of locks before the first one ends', async () => {
  const started: string[] = [];
  const gate = Promise.withResolvers<void>();
  const step = (name: string) => async () => {
    started.push(name);
    await gate.promise;
    return name.length;
  };
  const locked = createLock()({
    files: step('files'),
    urls: step('urls'),
    feed: undefined,
    reporters: step('reporters'),
  });
  assert.deepEqual(started, ['reporters', 'urls', 'files']);
  gate.resolve();
  assert.deepEqual(await locked, { reporters: 9, urls: 4, files: 5 });
});

test('a lock that comes too late is an error, and nothing is sent', async () => {
  const lock = createLock();
  const started: string[] = [];
  const step = (name: string) => async () => started.push(name);
  await lock({ urls: step('urls') });
  await assert.rejects(lock({ files: step('files'), feed: step('feed') }), /feed must be locked before urls/);
  assert.deepEqual(started, ['urls']);
});

test('inOrder returns the results in the order of the steps', async () => {
  assert.deepEqual(await inOrder([async () => 1, async () => 'b']), [1, 'b']);
});

/** The statements that add or lock rows of each kind. */
const LOCKS: Record<(typeof LOCK_ORDER)[number], RegExp> = {
  host_table: /lock table hosts/,
  sources: /insert into sources/,
  reporters: /insert into reporters/,
  feed: /from reporters where .* for (share|update)/,
  removals: /insert into removals/,
  families: /insert into families/,
  tags: /insert into tags/,
  urls: /from urls\s.* for update/s,
  files: /insert into files|from files .* for update/s,
  new_urls: /insert into urls/,
  domains: /insert into domains/,
  hosts: /insert into hosts/,
  episodes: /insert into episodes|from episodes .* for update/s,
  names: /insert into (?:url_sightings|name_addresses|domain_evidence)|update domains/,
};

test('a batch takes three round trips between begin and commit, one more with new hosts or a listing, and locks in order', async (t) => {
  const { store, transactions } = await recordingStore(t);
  const batch = (ts: number) => [
    seen({ ts, url: 'http://192.0.2.1/', reporter: 'ada', payload: { sha256: hashOf('a'), family: 'Mirai' } }),
    seen({ ts, url: 'http://b.example/', status: 'removed', removal: 'abuse' }),
    seen({ ts, url: 'http://c.example/', ip: '192.0.2.2', tags: ['elf'] }),
  ];
  await store.apply(batch(T));
  await store.apply(batch(T + 1), { feed: 'feed', ts: T });
  await store.apply(batch(T + 2));
  assert.deepEqual(
    transactions.map(({ roundTrips }) => roundTrips),
    [4, 4, 3],
  );
  assert.deepEqual(
    locksOf(transactions[0]),
    LOCK_ORDER.filter((name) => name !== 'sources' && name !== 'feed' && name !== 'episodes'),
  );
  assert.deepEqual(
    locksOf(transactions[1]),
    LOCK_ORDER.filter((name) => !['sources', 'episodes', 'new_urls', 'domains', 'hosts'].includes(name)),
  );
});

test('each transaction of a listing that is finished locks in order', async (t) => {
  const { store, transactions } = await recordingStore(t);
  await store.apply([seen({ ts: T, url: 'http://192.0.2.1/' })], { feed: 'feed', ts: T });
  transactions.length = 0;
  assert.deepEqual(await store.finishListing({ feed: 'feed', ts: T + 9 }), { wentOffline: 1 });
  assert.deepEqual(transactions.map(locksOf), [
    ['reporters', 'feed'],
    ['feed', 'removals', 'urls'],
  ]);
  assert.deepEqual(
    transactions.map(({ roundTrips }) => roundTrips),
    [2, 5],
  );
});

type Recorded = { statements: string[]; roundTrips: number };

function locksOf(transaction: Recorded | undefined): string[] {
  const kinds = (transaction?.statements ?? []).flatMap((sql) => LOCK_ORDER.filter((name) => LOCKS[name].test(sql)));
  return kinds.filter((name, i) => name !== kinds[i - 1]);
}

/** A store that records its transactions. A round trip begins when a statement is sent while none is pending. */
async function recordingStore(t: TestContext) {
  const url = await temporaryDatabase(t);
  await (await openPostgresIntelligence({ url, readUrls: [], connections: 1 })).close();
  const db = openDatabase(url, { connections: 1, role: 'read-write' });
  t.after(() => db.close());
  const transactions: Recorded[] = [];
  const watched: Database = {
    ...db,
    transaction: (work) =>
      db.transaction((session) => {
        const recorded: Recorded = { statements: [], roundTrips: 0 };
        transactions.push(recorded);
        return work(recordingSession(session, recorded));
      }),
  };
  return { store: createUrlStore(watched, db.query), transactions };
}

function recordingSession(session: Session, watched: Recorded): Session {
  let pending = 0;
  async function watch<Result>(sql: string, send: () => Promise<Result>): Promise<Result> {
    watched.statements.push(sql);
    if (pending++ === 0) watched.roundTrips++;
    try {
      return await send();
    } finally {
      pending--;
    }
  }
  return {
    ...session,
    query: (sql, params, signal) => watch(sql, () => session.query(sql, params, signal)),
    run: (sql, params) => watch(sql, () => session.run(sql, params)),
  };
}
