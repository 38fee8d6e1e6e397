import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextIteration, setTimeout } from 'node:timers/promises';
import postgres from 'postgres';
import { openPostgresIntelligence } from '../../src/app/postgres-stores.ts';
import type { Intelligence } from '../../src/app/stores.ts';
import { AppError } from '../../src/core/errors.ts';
import { PLANNING } from '../../src/database/postgres/connection-pool.ts';
import { openDatabase } from '../../src/database/postgres/database.ts';
import { DELETE_OLD, DELETE_REPORTED } from '../../src/limits/postgres/usage.ts';
import * as details from '../../src/urls/postgres/details.ts';
import * as checks from '../../src/urls/postgres/integrity.ts';
import * as lists from '../../src/urls/postgres/list-urls.ts';
import { LOCK_URLS_BY_ID } from '../../src/urls/postgres/locked-batch.ts';
import * as reads from '../../src/urls/postgres/lookup.ts';
import * as searches from '../../src/urls/postgres/search.ts';
import * as streams from '../../src/urls/postgres/streams.ts';
import * as tags from '../../src/urls/postgres/tags.ts';
import { freePort } from '../servers/child.ts';
import { makeDatabase } from '../servers/temporary-database.ts';
import { until } from '../until.ts';
import {
  ALWAYS,
  bounds,
  collect,
  collectFacts,
  find,
  hashOf,
  NEW_YEAR,
  searchKey,
  seen,
} from '../urls/contract/observations.ts';
import { lastOf } from '../urls/results.ts';

const T = NEW_YEAR;
const URL = 'http://192.0.2.1/';
const isUnavailable = (error: unknown) => error instanceof AppError && error.code === 'unavailable';

test('several nodes can start at the same time on a new database', async (t) => {
  const url = await makeDatabase();
  const nodes = await Promise.all(Array.from({ length: 6 }, () => open(t, url)));
  await nodes[0]?.apply([seen({ ts: T, url: URL })]);
  for (const node of nodes) assert.equal((await lastOf(node, URL))?.status?.ts, T);
  const names = await onDatabase(t, url)`select name from migrations order by number`;
  assert.equal(new Set(names.map(({ name }) => name)).size, names.length);
});

test('a database that a newer version changed is refused only when the change was breaking', async (t) => {
  const url = await makeDatabase();
  await (await open(t, url)).close();
  const sql = onDatabase(t, url);
  await sql`insert into migrations (number, name, breaking) values (9999, '9999_later.sql', false)`;
  await (await open(t, url)).close();
  await sql`update migrations set breaking = true where number = 9999`;
  await assert.rejects(open(t, url), /newer version of urlwarden \(9999_later\.sql\)/);
});

test('a migration that waits for a table does not hold up other nodes', async (t) => {
  const url = await makeDatabase();
  await (await open(t, url)).close();
  const sql = onDatabase(t, url);
  await sql`drop index urls_without_status`;
  await sql`delete from migrations where name = '0017_intelligence_urls_without_status.sql'`;
  let opened: Promise<Intelligence> | undefined;
  await sql.begin(async (long) => {
    await long`lock table urls in row exclusive mode`;
    opened = open(t, url);
    opened.catch(() => {});
    const waits = () => long`
      select from pg_locks join pg_database on pg_database.oid = database
      where datname = current_database() and relation = 'urls'::regclass and not granted`;
    await until(async () => (await waits()).length > 0, 'the migration');
    await sql.begin(async (write) => {
      await write`set local lock_timeout = '5s'`;
      await write`lock table urls in row exclusive mode`;
    });
  });
  await opened;
  assert.equal((await sql`select from pg_indexes where indexname = 'urls_without_status'`).length, 1);
});

test('an unreachable server is reported as unavailable within 5 s', async (t) => {
  const startedAt = Date.now();
  const nowhere = `127.0.0.1:${await freePort()}`;
  await assert.rejects(open(t, `postgres://postgres@${nowhere}/x`), isUnavailable);
  await assert.rejects(open(t, `postgres://postgres@${nowhere},${nowhere}/x`), isUnavailable);
  assert.ok(Date.now() - startedAt < 5_000);
});

test('of several hosts without the database, the reason is reported, and an import does not wait for it', async (t) => {
  const { host, pathname } = new globalThis.URL(await makeDatabase());
  const url = `postgres://postgres@${host},${host}${pathname}-missing`;
  await assert.rejects(open(t, url), (error: AppError) => {
    assert.match(error.message, /^PostgreSQL: database ".*-missing" does not exist$/);
    return isUnavailable(error) && !error.isTransient;
  });
});

test('a connection that is closed at the beginning of a batch fails the batch, not the process', async (t) => {
  const url = await makeDatabase();
  const { hostname, port } = new global.URL(url);
  let closed = 0;
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    for (const socket of [client, server]) socket.on('error', () => {});
    server.pipe(client).on('close', () => server.destroy());
    client.on('data', (bytes) => {
      if (!bytes.includes('plan_cache_mode') || closed === 3) return void server.write(bytes);
      closed++;
      client.end();
    });
  }).listen(0, '127.0.0.1');
  t.after(() => proxy.close());
  await once(proxy, 'listening');
  const through = new global.URL(url);
  through.port = String((proxy.address() as AddressInfo).port);
  const store = await open(t, through.href);
  for (let i = 0; i < 3; i++) await assert.rejects(store.apply([seen({ ts: T, url: URL })]), isUnavailable);
  await store.apply([seen({ ts: T, url: URL })]);
  assert.equal((await lastOf(store, URL))?.status?.ts, T);
});

test('a connection that is closed before a statement is sent fails this statement only', async (t) => {
  const url = await makeDatabase();
  const { hostname, port } = new global.URL(url);
  const accepted: Socket[] = [];
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    for (const socket of [client, server]) socket.on('error', () => {});
    server.pipe(client).on('close', () => server.destroy());
    client.pipe(server);
    accepted.push(client);
  }).listen(0, '127.0.0.1');
  t.after(() => proxy.close());
  await once(proxy, 'listening');
  const through = new global.URL(url);
  through.port = String((proxy.address() as AddressInfo).port);
  const db = openDatabase(through.href, { connections: 1, role: 'read-write' });
  t.after(db.close);
  for (let i = 0; i < 3; i++) {
    await db.query('select 1');
    await nextIteration();
    accepted.at(-1)?.destroy();
    await nextIteration(); // the driver has read the end of the connection, but not closed its socket
    await assert.rejects(db.query('select 1'), (error: AppError) => {
      assert.match(error.message, /^PostgreSQL closed the connection: its log may have the reason \(write \w+/);
      return isUnavailable(error);
    });
    const [row] = await db.query('select 2');
    assert.deepEqual(row, [2]);
  }
});

test('a statement costs the same after thousands of others: no list of the driver grows', async (t) => {
  const store = await open(t, await makeDatabase(), [], 3);
  const lookUp = () => store.urlId(URL);
  await Promise.all([lookUp(), lookUp(), lookUp()]); // all connections are open, then one or two are used
  const { indexOf } = Array.prototype;
  let longest = 0;
  Array.prototype.indexOf = function (this: unknown[], ...args) {
    longest = Math.max(longest, this.length);
    return indexOf.apply(this, args);
  };
  t.after(() => {
    Array.prototype.indexOf = indexOf;
  });
  const client = async () => {
    for (let i = 0; i < 1_000; i++) await lookUp();
  };
  await Promise.all([client(), client()]);
  assert.ok(longest < 100, `a list of ${longest} entries was searched`);
});

test('a store is not ready while its database is missing, and ready again afterwards', async (t) => {
  const url = await makeDatabase();
  const store = await open(t, url);
  const sql = onServerOf(t, url);
  const name = nameOf(url);
  await store.ready();
  await sql.unsafe(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  await sql.unsafe(`alter database ${name} rename to ${name}_away`);
  await assert.rejects(store.ready(), isUnavailable);
  await sql.unsafe(`alter database ${name}_away rename to ${name}`);
  await store.ready();
});

test('a database that accepts no writes is not ready until it does', async (t) => {
  const url = await makeDatabase();
  await (await open(t, url)).close();
  const [server, name] = [onServerOf(t, url), nameOf(url)];
  await server.unsafe(`alter database ${name} set default_transaction_read_only = on`);
  const store = await open(t, url);
  const message = /^PostgreSQL accepts no writes: it is a standby, or default_transaction_read_only is on/;
  await assert.rejects(store.ready(), { code: 'unavailable', message });
  await assert.rejects(store.apply([seen({ ts: T, url: URL })]), { code: 'unavailable', message });
  await server.unsafe(`alter database ${name} reset default_transaction_read_only`);
  const isReady = () =>
    store.ready().then(
      () => true,
      () => false,
    );
  await until(isReady, 'a new session');
  await store.apply([seen({ ts: T, url: URL })]);
});

test('a role without rights is refused with the reason, in a new database and in one that has tables', async (t) => {
  const [url, old] = [await makeDatabase(), await makeDatabase()];
  await (await open(t, old)).close();
  const server = onServerOf(t, url);
  const role = `urlwarden_test_${randomBytes(8).toString('hex')}`;
  await server.unsafe(`create role ${role} login password 'x'`);
  try {
    for (const at of [url, old]) {
      const message = /^PostgreSQL refuses this role: .* \(permission denied for (?:schema public|table migrations)\)$/;
      const asRole = Object.assign(new globalThis.URL(at), { username: role, password: 'x' }).href;
      await assert.rejects(open(t, asRole), { code: 'unavailable', message, isTransient: false });
    }
  } finally {
    await server.unsafe(`drop role ${role}`);
  }
});

test('a database that lost its tables is unavailable until it has them again', async (t) => {
  const url = await makeDatabase();
  const store = await open(t, url);
  const sql = onDatabase(t, url);
  await sql`alter table urls rename to urls_away`;
  const message = /^A table is missing in PostgreSQL: .* \(relation "urls" does not exist\)$/;
  await assert.rejects(async () => store.urlLast(URL), { code: 'unavailable', message, isTransient: false });
  await sql`alter table urls_away rename to urls`;
  assert.equal(await store.urlLast(URL), null);
});

test('a new database with an encoding that lacks characters is refused, one that is in use is not', async (t) => {
  const url = await makeDatabase();
  const server = onServerOf(t, url);
  const name = `${nameOf(url)}_encoding`;
  const at = url.replace(/[^/]+$/, name);
  const create = (encoding: string) =>
    server.unsafe(`create database ${name} encoding '${encoding}' locale 'C' template template0`);
  const drop = () => server.unsafe(`drop database if exists ${name} with (force)`);
  try {
    await create('LATIN1');
    await assert.rejects(open(t, at), /has the encoding LATIN1, and has to have UTF8: create it/);
    await drop();
    await create('SQL_ASCII');
    const store = await open(t, at);
    await store.apply([seen({ ts: T, url: URL, reporter: 'ŵ' })]);
    assert.equal((await lastOf(store, URL))?.status?.reporter, 'ŵ');
    await store.close();
  } finally {
    await drop();
  }
  await (await open(t, url)).close();
  const sql = onDatabase(t, url);
  await sql`drop index urls_without_status`;
  await sql`delete from migrations where name = '0017_intelligence_urls_without_status.sql'`;
  await sql.end();
  await server`update pg_database set encoding = pg_char_to_encoding('LATIN1') where datname = ${nameOf(url)}`;
  await (await open(t, url)).close();
});

test('lookups go to the replicas, everything else to the primary', async (t) => {
  const [url, replica] = [await makeDatabase(), await makeDatabase()];
  const other = await open(t, replica);
  await other.apply([seen({ ts: T + 7, url: URL })]);
  const store = await open(t, url, [replica, replica]);
  await store.apply([seen({ ts: T, url: URL })]);
  assert.equal((await lastOf(store, URL))?.status?.ts, T + 7);
  assert.deepEqual(await find(store, 'host', '192.0.2.1'), [`${T + 7} ${URL}`]);
  const [exported] = await collect(store.exportUrls({}));
  assert.equal(exported?.event?.ts, T);
});

test('a failed replica is skipped, and others are queried', async (t) => {
  const [url, replica] = [await makeDatabase(), await makeDatabase()];
  const nowhere = `postgres://postgres@127.0.0.1:${await freePort()}/x`;
  const notMigrated = await makeDatabase();
  await (await open(t, replica)).apply([seen({ ts: T + 7, url: URL })]);
  const one = await open(t, url, [nowhere, notMigrated, replica]);
  for (let i = 0; i < 6; i++) assert.equal((await lastOf(one, URL))?.status?.ts, T + 7);
  const none = await open(t, url, [nowhere, notMigrated]);
  await none.apply([seen({ ts: T, url: URL })]);
  for (let i = 0; i < 6; i++) assert.equal((await lastOf(none, URL))?.status?.ts, T);
  await none.ready();
});

test('aborting a search cancels its statement', async (t) => {
  const url = await makeDatabase();
  const store = await open(t, url);
  await store.apply([seen({ ts: T, url: URL })]);
  const sql = onDatabase(t, url);
  const abort = new AbortController();
  await sql.begin(async (transaction) => {
    await transaction`lock table urls in access exclusive mode`;
    const reading = collectFacts(store.search(searchKey('ip', '192.0.2.1'), ALWAYS, bounds(Infinity, abort.signal)));
    await until(async () => (await waiting(transaction)) === 1, 'the locks');
    abort.abort();
    await assert.rejects(reading, { name: 'AbortError' });
    await until(async () => (await waiting(transaction)) === 0, 'the locks');
  });
  assert.equal((await find(store, 'ip', '192.0.2.1')).length, 1);
});

test('a statement that fails after it has returned rows does not affect the next one on its connection', async (t) => {
  const db = openDatabase(await makeDatabase(), { connections: 1, role: 'read-write' });
  t.after(() => db.close());
  const failing = 'select 1 / (3 - i) from generate_series(1, 5) i';
  await assert.rejects(db.query(failing), /division by zero/);
  assert.deepEqual([...(await db.query('select 7'))], [[7]]);
});

test('aborting a search does not affect other statements on its connection', async (t) => {
  const url = await makeDatabase();
  const store = await open(t, url, [], 1);
  const urls = ['a', 'b', 'c'].map((name) => `http://${name}.example/`);
  await store.apply(urls.map((one) => seen({ ts: T, url: one, ip: '192.0.2.1', asn: 64500 })));
  const abort = new AbortController();
  const search = (signal?: AbortSignal) =>
    collectFacts(store.search(searchKey('asn', 64500), ALWAYS, bounds(9, signal)));
  await Promise.all([store.urlLast(URL), search()]);
  await onDatabase(t, url).begin(async (transaction) => {
    await transaction`lock table families in access exclusive mode`;
    const first = lastOf(store, urls[0] as string);
    await until(async () => (await waiting(transaction)) === 1, 'the locks');
    const searching = search(abort.signal);
    const others = urls.map((one) => lastOf(store, one));
    await setTimeout(20);
    abort.abort();
    await assert.rejects(searching, { name: 'AbortError' });
    await transaction`commit`;
    const responses = await Promise.all([first, ...others]);
    assert.deepEqual(
      responses.map((response) => response?.url),
      [urls[0], ...urls],
    );
  });
});

test('every lookup, search and check reads indexes, in their order', async (t) => {
  const url = await makeDatabase();
  const store = await open(t, url);
  for (let batch = 0; batch < 4; batch++)
    await store.apply(Array.from({ length: 3_000 }, (_, i) => varied(batch * 3_000 + i)));
  const sql = onDatabase(t, url, PLANNING);
  await sql`
    insert into usage (sub, period, number, count)
    select sub, 'day', number, 1 from generate_series(10000000, 10000300) sub, generate_series(20000, 20030) number`;
  await sql`analyze`;
  // The check of URLs sorts, but only the payloads of one second.
  for (const [name, text] of [reads, details, streams, searches, checks].flatMap((file) => Object.entries(file))) {
    if (typeof text !== 'string') continue;
    const unwanted = text === checks.URLS ? /Seq Scan|Hash|Bitmap/ : /Seq Scan|Sort|Hash|Bitmap/;
    const plan = (await sql.unsafe(`explain (generic_plan) ${text}`)).map((row) => row['QUERY PLAN']).join('\n');
    assert.doesNotMatch(plan, unwanted, `${name}:\n${plan}`);
    assert.equal(plan.match(/Index Cond/g)?.length, plan.match(/Index (?:Only )?Scan/g)?.length, `${name}:\n${plan}`);
  }
  // These sort what they have found: they lock rows of a large table in the order of another index.
  for (const text of [LOCK_URLS_BY_ID, DELETE_OLD, DELETE_REPORTED]) {
    const plan = (await sql.unsafe(`explain (generic_plan) ${text}`)).map((row) => row['QUERY PLAN']).join('\n');
    const [scans, conditions] = [/(?:Seq|Index|Index Only) Scan (?:using \w+ )?on (?:urls|usage)/g, /Index Cond/g];
    assert.equal(plan.match(conditions)?.length, plan.match(scans)?.length, plan);
  }
});

test('a transaction fails if the server does not answer a statement or the commit', async (t) => {
  const url = await makeDatabase();
  const { hostname, port } = new global.URL(url);
  let isHanging = false;
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    for (const socket of [client, server]) socket.on('error', () => {});
    client.pipe(server).on('close', () => client.destroy());
    server.on('data', (bytes) => isHanging || client.write(bytes));
  }).listen(0, '127.0.0.1');
  t.after(() => proxy.close());
  await once(proxy, 'listening');
  const through = new global.URL(url);
  through.port = String((proxy.address() as AddressInfo).port);
  const db = openDatabase(through.href, { connections: 1, role: 'read-write', transactionWaitMs: 500 });
  t.after(db.close);
  for (const last of ['statement', 'commit']) {
    isHanging = false;
    const transaction = db.transaction(async (session) => {
      await session.run('select 1');
      isHanging = true;
      if (last === 'statement') await session.run('select 2');
    });
    await assert.rejects(transaction, { message: 'PostgreSQL does not respond' }, last);
  }
});

test('tags are looked up by id, also while the planner has no statistics of a filled table', async (t) => {
  const url = await makeDatabase();
  await open(t, url);
  const sql = onDatabase(t, url, PLANNING);
  // One page with the number of rows that a large table would have.
  await sql`insert into url_tags (url_id, tag_id) values (1, 1)`;
  await sql`update pg_class set relpages = 1, reltuples = 2000000 where oid = 'url_tags'::regclass`;
  const ofLists = [lists.OF_IDS, lists.OF_IDS_BRIEF].flatMap((texts) => Object.values(texts));
  for (const text of [...ofLists, tags.OF_URLS, details.TAGS]) {
    const plan = (await sql.unsafe(`explain (generic_plan) ${text}`)).map((row) => row['QUERY PLAN']).join('\n');
    assert.equal(plan.match(/Index Cond/g)?.length, plan.match(/Index (?:Only )?Scan/g)?.length, plan);
  }
});

test('texts of any length and any characters are stored unchanged', async (t) => {
  const store = await open(t, await makeDatabase());
  const texts = [
    '{"a,b"}',
    'null',
    'NULL',
    '\\',
    '\\x00',
    "'; drop table urls; --",
    'ﷺ‮',
    '𝒳'.repeat(1_024),
    '$1',
    incompressible(),
  ];
  for (const [i, text] of texts.entries()) {
    const url = `http://a.example/${i}${'y'.repeat(8_000)}`;
    const payload = { fileName: text, family: text, sha256: hashOf(i.toString(16)) };
    await store.apply([seen({ ts: T, url, status: 'removed', removal: text, reporter: text, payload })], {
      feed: text,
      ts: T,
    });
    const last = await lastOf(store, url);
    assert.deepEqual([last?.url, last?.status?.removal, last?.status?.reporter], [url, text, text]);
    assert.deepEqual([last?.payload?.file_name, last?.payload?.['malware-family']], [text, text]);
    assert.deepEqual(await store.finishListing({ feed: text, ts: T + 1 }), { wentOffline: 0 });
  }
  const nul = { by: 'family', folded: 'a\0b' } as const;
  assert.deepEqual(await collectFacts(store.search(nul, ALWAYS, bounds())), []);
});

test('a batch that fails leaves nothing behind, and the next one succeeds', async (t) => {
  const store = await open(t, await makeDatabase());
  const good = seen({ ts: 10, url: 'http://a.example/', reporter: 'new' });
  const bad = { ...seen({ ts: 10, url: 'http://b.example/' }), ts: 1.5 };
  await assert.rejects(store.apply([good, bad]));
  assert.equal(await store.urlId('http://a.example/'), null);
  await store.apply([good]);
  assert.equal((await lastOf(store, 'http://a.example/'))?.status?.reporter, 'new');
});

async function open(t: TestContext, url: string, readUrls: string[] = [], connections = 3): Promise<Intelligence> {
  const store = await openPostgresIntelligence({ url, readUrls, connections });
  t.after(() => store.close());
  return store;
}

function onDatabase(t: TestContext, url: string, connection = {}): postgres.Sql {
  const sql = postgres(url, { max: 2, connection, onnotice: () => {} });
  t.after(() => sql.end({ timeout: 0 }));
  return sql;
}

function onServerOf(t: TestContext, url: string): postgres.Sql {
  return onDatabase(t, url.replace(/[^/]+$/, 'postgres'));
}

function nameOf(url: string): string {
  return url.replace(/^.*\//, '');
}

/** Statements of the store that wait for a lock. */
async function waiting(sql: postgres.TransactionSql): Promise<number> {
  const [row] = await sql`
    select count(*)::integer as count from pg_stat_activity
    where datname = current_database() and application_name = 'urlwarden' and wait_event_type = 'Lock'`;
  return row?.count;
}

/** Many different values, so that no table is small enough for a sequential scan. */
function varied(i: number) {
  return seen({
    ts: T + i * 600,
    url: `http://h${i % 3_000}.example/${i}`,
    status: i % 2 === 0 ? 'removed' : 'online',
    ...(i % 2 === 0 && { removal: `reason ${i % 3_000}` }),
    reporter: `reporter ${i % 3_000}`,
    ip: `10.${i % 7}.${i % 250}.${i % 199}`,
    asn: 64_500 + (i % 900),
    payload: { sha256: (i % 5_000).toString(16).padStart(64, '0'), family: `Family ${i % 3_000}` },
    tags: [`tag ${i % 3_000}`],
  });
}

/** 1,024 characters of four bytes each, more than an index entry holds. */
function incompressible(): string {
  return Array.from(randomBytes(1_024), (byte, i) => String.fromCodePoint(0x1f300 + byte + (i % 3) * 256)).join('');
}
