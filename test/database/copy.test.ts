import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import postgres from 'postgres';
import { type Control, type Intelligence, openControl, openIntelligence } from '../../src/app/stores.ts';
import { copyData } from '../../src/database/copy.ts';
import { openTables } from '../../src/database/postgres/tables.ts';
import { DEFAULT_FILTER } from '../../src/exports/built-in.ts';
import { demoObservations } from '../../src/ingest/demo.ts';
import { ALL_AUDIT, auditEntry } from '../audit/audit-entry.ts';
import { makeDatabase } from '../servers/temporary-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const TIERS = { name: 'tiers', columns: ['name'], key: ['name'] };
const ALL_ROWS = { after: null, upTo: null };

const NOW = 1_767_225_600;
const { signal } = new AbortController();

async function collected<Item>(pages: AsyncIterable<Item[]>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}

const exported = (store: Intelligence) => collected(store.exportObservations({}));

/** Of a key of a list, and of the content of one. */
const KEY_HASH = new Uint8Array(32).fill(92);

/** All control data that the port returns. */
async function controlData(control: Control) {
  const imports = await control.imports({ limit: 100 });
  return {
    version: await control.version(),
    accounts: await control.accounts(),
    tiers: await control.tiers(),
    keys: (await control.keys()).map((key) => ({ ...key, secret: Buffer.from(key.secret).toString('hex') })),
    usage: await control.usage('10000001', 20_000, 657),
    feeds: await control.feeds(),
    audit: await control.auditEntries(ALL_AUDIT),
    lists: [await control.listDefinitions(), await control.exclusions(), await control.listKeys({})],
    key: await control.findListKey(KEY_HASH),
    listsVersion: await control.listsVersion(),
    serial: await control.listSerial('urls-online', KEY_HASH, 1),
    imports,
    rejects: await collected(control.rejects(imports[0]?.id ?? 0)),
  };
}

async function fill(dataDir: string): Promise<void> {
  const store = await openIntelligence({ dataDir });
  const listing = { feed: 'list', ts: NOW };
  await store.apply(demoObservations(NOW), listing);
  await store.finishListing({ feed: 'list', ts: NOW + 60 });
  await store.close();
  const control = await openControl({ dataDir });
  await control.addAccount({
    sub: '10000001',
    username: 'Ada\\t "quoted" \\N ü',
    usernameKey: 'ada',
    passwordHash: '$argon2id$x',
    tier: 'standard',
    isEnabled: true,
    isAdmin: false,
    generation: 3,
    createdTs: NOW,
  });
  await control.ensureKey({ kid: 'k', secret: new Uint8Array([0, 9, 10, 92, 255]), createdTs: NOW });
  await control.addUsage([{ sub: '10000001', day: 20_000, month: 657, count: 12 }]);
  const id = await control.importStarted({ format: 'url-list', feed: 'f', source: '-', startedTs: NOW });
  await control.addRejects(id, 0, [{ line: 3, reason: 'no URL', text: 'a\tb\n\\c\r' }]);
  await control.addAudit(auditEntry({ ts: NOW }));
  const list = { name: 'own', kind: 'urls', description: 'a\tb', filter: DEFAULT_FILTER, changedTs: NOW } as const;
  await control.addListDefinition(list);
  const match = { kind: 'url', prefix: 'http://a.example/\\' } as const;
  await control.addExclusion({ match, list: 'own', reason: 'ours', setTs: NOW, untilTs: null }, 0);
  await control.addListKey({ list: 'own', device: 'proxy', sub: '10000001', createdTs: NOW }, KEY_HASH);
  await control.listSerial('urls-online', KEY_HASH, NOW);
  await control.close();
}

async function opened(t: TestContext, place: Parameters<typeof openIntelligence>[0]) {
  const [store, control] = [await openIntelligence(place), await openControl(place)];
  t.after(() => Promise.all([store.close(), control.close()]));
  return { store, control };
}

test('all data is the same after a copy, ids and the next ids included', async (t) => {
  const dataDir = temporaryFolder(t);
  await fill(dataDir);
  const databaseUrl = await makeDatabase();
  const report = await copyData({ dataDir, databaseUrl, signal });
  assert.equal(report.isFinished, true);
  assert.ok(report.written > 100);
  const from = await opened(t, { dataDir });
  const to = await opened(t, { dataDir, databaseUrl });
  assert.deepEqual(await exported(to.store), await exported(from.store));
  assert.deepEqual(await controlData(to.control), await controlData(from.control));
  for (const { url } of demoObservations(NOW).slice(0, 50)) {
    assert.deepEqual(await to.store.urlLast(url), await from.store.urlLast(url));
    assert.deepEqual(await to.store.urlHistory(url, 100), await from.store.urlHistory(url, 100));
  }
  const later = demoObservations(NOW)
    .slice(0, 3)
    .map((one, i) => ({ ...one, url: `http://192.0.2.77/new-${i}`, host: '192.0.2.77' }));
  const reports = [await from.store.apply(later), await to.store.apply(later)];
  assert.deepEqual(reports[1], reports[0]);
  assert.equal(await to.store.urlId('http://192.0.2.77/new-2'), await from.store.urlId('http://192.0.2.77/new-2'));
});

test('a copy beside a running server is not finished, no server starts on it, and the next copy completes it', async (t) => {
  const dataDir = temporaryFolder(t);
  await fill(dataDir);
  const databaseUrl = await makeDatabase();
  const running = await openIntelligence({ dataDir });
  const first = await copyData({ dataDir, databaseUrl, signal });
  assert.equal(first.isFinished, false);
  await assert.rejects(openIntelligence({ dataDir, databaseUrl }), /being moved into this database/);
  const one = demoObservations(NOW).slice(0, 1);
  await running.apply(one.map((of) => ({ ...of, url: 'http://192.0.2.77/meanwhile', host: '192.0.2.77' })));
  const control = await openControl({ dataDir });
  await control.addAudit(auditEntry({ ts: NOW + 1 }));
  await control.close();
  await running.close();
  const second = await copyData({ dataDir, databaseUrl, signal });
  assert.equal(second.isFinished, true);
  assert.ok(second.written > 0);
  const { store, control: moved } = await opened(t, { dataDir, databaseUrl });
  assert.equal((await moved.auditEntries(ALL_AUDIT)).length, 2, 'the append-only table can be copied again');
  assert.notEqual(await store.urlId('http://192.0.2.77/meanwhile'), null);
});

test('an interrupted copy can be repeated', async (t) => {
  const dataDir = temporaryFolder(t);
  await fill(dataDir);
  const databaseUrl = await makeDatabase();
  const interrupt = new AbortController();
  const copying = copyData({ dataDir, databaseUrl, signal: interrupt.signal, onProgress: () => interrupt.abort() });
  await assert.rejects(copying, { name: 'AbortError' });
  assert.equal((await copyData({ dataDir, databaseUrl, signal })).isFinished, true);
});

test('a copy is refused while another one writes to the same database', async (t) => {
  const dataDir = temporaryFolder(t);
  await fill(dataDir);
  const databaseUrl = await makeDatabase();
  const copy = () => copyData({ dataDir, databaseUrl, signal });
  const other = await openTables(databaseUrl);
  await assert.rejects(copy(), /Another urlwarden move writes to this database/);
  await other.close();
  assert.equal((await copy()).isFinished, true);
});

test('a copy whose lock was lost writes no more, because another one may have begun', async (t) => {
  const databaseUrl = await makeDatabase();
  const tables = await openTables(databaseUrl);
  t.after(() => tables.close());
  const sql = postgres(databaseUrl, { max: 1 });
  t.after(() => sql.end());
  await tables.replace(TIERS, ALL_ROWS, []);
  const holders = await sql`
    select pg_terminate_backend(pid) from pg_locks
    where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`;
  assert.equal(holders.length, 1);
  await until(
    () =>
      tables.replace(TIERS, ALL_ROWS, []).then(
        () => false,
        (error) => /keeps other moves away was lost/.test(error.message),
      ),
    'a refused page',
  );
  await assert.rejects(tables.finish([]), /keeps other moves away was lost/);
});

test('a database that already contains data is refused', async (t) => {
  const dataDir = temporaryFolder(t);
  await fill(dataDir);
  const databaseUrl = await makeDatabase();
  await copyData({ dataDir, databaseUrl, signal });
  await assert.rejects(copyData({ dataDir, databaseUrl, signal }), /already contains data/);
});

test('a folder without data is an error', async (t) => {
  const dataDir = `${temporaryFolder(t)}/mistyped`;
  await assert.rejects(copyData({ dataDir, databaseUrl: await makeDatabase(), signal }), /no data in/);
});
