import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import postgres from 'postgres';
import { openPostgresControl, openPostgresIntelligence } from '../../src/app/postgres-stores.ts';
import { type Control, type Intelligence, openControl, openIntelligence } from '../../src/app/stores.ts';
import { copyData } from '../../src/database/copy.ts';
import { SESSION_SETTINGS } from '../../src/database/postgres/connection-pool.ts';
import { ADA } from '../app/control-records.ts';
import { startServer, tokenOf } from '../cli/server.ts';
import { urlwarden } from '../cli/urlwarden.ts';
import { startPgbouncer } from '../servers/pgbouncer.ts';
import { makeDatabase } from '../servers/temporary-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import {
  ALWAYS,
  bounds,
  collect,
  collectFacts,
  find,
  NEW_YEAR,
  searchKey,
  seen,
} from '../urls/contract/observations.ts';
import { lastOf } from '../urls/results.ts';

const T = NEW_YEAR;
/** Fewer than the connections of one node. */
const SERVER_CONNECTIONS = 4;
const BATCHES = 20;
const URLS = 50;

const DOCUMENT = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8');
const documented = (language: string) =>
  new RegExp(`^\`\`\`${language}\\n(.*?)\`\`\`$`, 'ms').exec(DOCUMENT)?.[1] ?? assert.fail(`no block of ${language}`);

/** A new database with the documented settings, and its URL through PgBouncer with the documented settings. */
async function pooledDatabase(t: TestContext) {
  const direct = await makeDatabase();
  const sql = postgres(direct, { max: 2, onnotice: () => {} });
  t.after(() => sql.end());
  await sql.unsafe(documented('sql').replaceAll(' urlwarden ', ` ${new URL(direct).pathname.slice(1)} `)).simple();
  const settings = `${documented('ini')}default_pool_size = ${SERVER_CONNECTIONS}`;
  return { direct, sql, pooled: await startPgbouncer(t, direct, settings) };
}

async function openNode(t: TestContext, url: string): Promise<{ store: Intelligence; control: Control }> {
  const store = await openPostgresIntelligence({ url, readUrls: [], connections: 10 });
  t.after(() => store.close());
  const control = await openPostgresControl({ url });
  t.after(() => control.close());
  return { store, control };
}

test('a folder with several pages of a table is moved through PgBouncer', async (t) => {
  const { pooled } = await pooledDatabase(t);
  const dataDir = temporaryFolder(t);
  const [store, control] = [await openIntelligence({ dataDir }), await openControl({ dataDir })];
  const days = Array.from({ length: 15_001 }, (_, day) => ({ sub: ADA.sub, day, month: 0, count: 1 }));
  await control.addUsage(days);
  for (const part of [store, control]) await part.close();
  const report = await copyData({ dataDir, databaseUrl: pooled, signal: new AbortController().signal });
  assert.deepEqual([report.isFinished, report.rows.usage], [true, days.length + 1]);
});

test('through PgBouncer the settings of our connections are in effect', async (t) => {
  const { pooled } = await pooledDatabase(t);
  const sql = postgres(pooled, { max: 1, connection: SESSION_SETTINGS as object });
  t.after(() => sql.end());
  for (const [name, value] of Object.entries(SESSION_SETTINGS)) {
    const [row] = await sql.unsafe(`select setting from pg_settings where name = '${name}'`);
    assert.equal(row?.setting, String(value), name);
  }
});

test('two nodes that share four connections of PgBouncer read and write as without it', async (t) => {
  const { direct, pooled } = await pooledDatabase(t);
  const nodes = await Promise.all([openNode(t, pooled), openNode(t, pooled)]); // both migrate
  const node = (i: number) => nodes[i % 2] as (typeof nodes)[0];
  await Promise.all(
    Array.from({ length: BATCHES }, async (_, i) => {
      await node(i).store.apply(batchOf(i), { feed: `f${i}`, ts: T + i });
      const urls = Array.from({ length: URLS }, (_, j) => urlOf(i, j));
      const found = await Promise.all(urls.map((url, j) => lastOf(node(j).store, url)));
      assert.deepEqual(
        found.map((last) => last?.url),
        urls,
      );
      assert.equal((await find(node(i + 1).store, 'asn', 64_500 + i)).length, URLS);
      await node(i).control.addAccount({ ...ADA, sub: String(20_000_000 + i), usernameKey: `${i}` });
      const accounts = await node(i + 1).control.accounts();
      assert.ok(accounts.some(({ usernameKey }) => usernameKey === `${i}`));
      await node(i + 1).store.finishListing({ feed: `f${i}`, ts: T + 100 });
    }),
  );
  const { store: expected } = await openNode(t, await makeDatabase());
  for (let i = 0; i < BATCHES; i++) {
    await expected.apply(batchOf(i), { feed: `f${i}`, ts: T + i });
    await expected.finishListing({ feed: `f${i}`, ts: T + 100 });
  }
  const whole = await exportOf(expected);
  assert.equal(whole.length, BATCHES * URLS * 3, 'each URL was added, seen and went offline');
  for (const store of [node(0).store, (await openNode(t, direct)).store])
    assert.deepEqual(await exportOf(store), whole);
});

test('through PgBouncer, aborting a search cancels its statement and no other', async (t) => {
  const { sql, pooled } = await pooledDatabase(t);
  const { store } = await openNode(t, pooled);
  await store.apply(batchOf(0));
  // Not the last status: lookups of it at the same time are one statement.
  const lookUp = () => [0, 1].map((j) => store.urlId(urlOf(0, j)));
  const ids = await Promise.all(lookUp());
  assert.ok(!ids.includes(null));
  const abort = new AbortController();
  await sql.begin(async (transaction) => {
    await transaction`lock table urls in access exclusive mode`;
    const searching = collectFacts(store.search(searchKey('asn', 64_500), ALWAYS, bounds(9, abort.signal)));
    const found = lookUp();
    await untilBlocked(sql, 3);
    abort.abort();
    await assert.rejects(searching, { name: 'AbortError' });
    await untilBlocked(sql, 2);
    await transaction`commit`;
    assert.deepEqual(await Promise.all(found), ids);
  });
});

test('commands and a server work through PgBouncer, also if the URL has two of them', async (t) => {
  const { direct, pooled } = await pooledDatabase(t);
  const { host } = new URL(pooled);
  const data = ['--database-url', pooled.replace(host, `${host},${host}`)];
  const account = { username: 'ada', password: 'correct horse' };
  assert.equal((await urlwarden(['account', 'add', 'ada', '--tier', 'operator', ...data], account.password)).code, 0);
  const list = Array.from({ length: 2_000 }, (_, i) => `http://192.0.2.1/${i}\n`).join('');
  const imported = await urlwarden(['import', 'url-list', '-', '--as-of', `${T}`, ...data], list);
  assert.equal(imported.code, 0, imported.stderr);
  const { url, stop, stderr } = await startServer(t, [...data, '--data', temporaryFolder(t)]);
  const headers = { authorization: `Bearer ${await tokenOf(url, account)}` };
  const body = '{"url":"http://192.0.2.1/1999"}';
  const found = await fetch(`${url}/api/intel/v2/byobject/url/last`, { method: 'POST', headers, body });
  assert.equal(found.status, 200);
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
  assert.equal(await stop('SIGTERM'), 0);
  assert.equal(stderr(), '');
  const [through, directly] = await Promise.all(
    [data, ['--database-url', direct]].map((at) => urlwarden(['export', ...at])),
  );
  assert.equal(through?.stdout, directly?.stdout);
  assert.ok((through?.stdout.split('\n').length ?? 0) > 2_000);
});

async function untilBlocked(sql: postgres.Sql, count: number): Promise<void> {
  const blocked = () => sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until(async () => (await blocked()).length === count, `${count} statements wait for a lock`);
}

function batchOf(i: number) {
  return Array.from({ length: URLS }, (_, j) =>
    seen({ ts: T + i, url: urlOf(i, j), reporter: `reporter ${i}`, ip: '192.0.2.1', asn: 64_500 + i }),
  );
}

function urlOf(i: number, j: number): string {
  return `http://batch${i}.example/${j}`;
}

/** Sorted, because batches that were written concurrently have ids in another order. */
async function exportOf(store: Intelligence): Promise<string[]> {
  const observations = await collect(store.exportObservations({}));
  return observations.map((one) => JSON.stringify(one)).sort();
}
