import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { openIntelligence } from '../../src/app/stores.ts';
import { prepareDatabaseFile } from '../../src/database/sqlite/database-file.ts';
import { urlhausDump } from '../../tools/shared/urlhaus-dump.ts';
import { PROGRAM, urlwarden } from '../cli/urlwarden.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { seen } from '../urls/contract/observations.ts';

const SCHEMA = 'select type, name, tbl_name, sql from sqlite_schema order by type, name';
const INDEXES = "select count(*) as count from sqlite_schema where type = 'index'";

const fileOf = (dataDir: string) => join(dataDir, 'intelligence.db');

function read<Row>(dataDir: string, sql: string): Row[] {
  const db = new DatabaseSync(fileOf(dataDir), { readOnly: true });
  try {
    return db.prepare(sql).all() as Row[];
  } finally {
    db.close();
  }
}

const countIndexes = (dataDir: string) => read<{ count: number }>(dataDir, INDEXES)[0]?.count ?? 0;

function assertComplete(t: TestContext, dataDir: string): void {
  const migrated = temporaryFolder(t);
  prepareDatabaseFile('intelligence', fileOf(migrated));
  assert.deepEqual(read(dataDir, SCHEMA), read(migrated, SCHEMA));
  assert.deepEqual(
    read<{ integrity_check: string }>(dataDir, 'pragma integrity_check').map((row) => row.integrity_check),
    ['ok'],
  );
}

const observed = (name: string) => [seen({ ts: 1_000, url: `http://${name}.example/`, status: 'online' })];

test('an import into an empty database creates its indexes at its end', async (t) => {
  const dataDir = temporaryFolder(t);
  const store = await openIntelligence({ dataDir }, { isForImport: true });
  const during = countIndexes(dataDir);
  await store.apply(observed('a'));
  assert.equal(countIndexes(dataDir), during, 'a batch creates none');
  await store.createIndexes?.();
  await store.apply(observed('b'));
  assert.ok(countIndexes(dataDir) > during);
  await store.createIndexes?.();
  await store.close();
  assertComplete(t, dataDir);
});

test('an import into an empty database finds the URLs, hosts and domains that it has added', async (t) => {
  const dataDir = temporaryFolder(t);
  const store = await openIntelligence({ dataDir }, { isForImport: true });
  for (const [name, urlsAdded] of [
    ['www.a', 1],
    ['b', 1],
    ['www.a', 0],
    ['mail.a', 1],
  ] as const) {
    assert.equal((await store.apply(observed(name))).urlsAdded, urlsAdded, name);
  }
  await store.createIndexes?.();
  await store.close();
  const urls =
    'select url, host, name from urls u join hosts h on h.id = host_id join domains d on d.id = domain_id order by u.id';
  assert.deepEqual(
    read<Record<string, string>>(dataDir, urls).map((row) => Object.values(row)),
    [
      ['http://www.a.example/', 'www.a.example', 'a.example'],
      ['http://b.example/', 'b.example', 'b.example'],
      ['http://mail.a.example/', 'mail.a.example', 'a.example'],
    ],
  );
  assertComplete(t, dataDir);
});

const DERIVED = [
  'select host, name, hex(h.ip) from hosts h left join domains d on d.id = domain_id order by host',
  'select name, first_url_ts from domains order by name',
  'select name, host, online_ts from url_sightings s join domains d on d.id = s.domain_id join hosts h on h.id = host_id order by s.url_id',
  'select name, host, hex(a.ip), ts from name_addresses a join domains d on d.id = a.domain_id join hosts h on h.id = a.host_id order by host, ts',
  'select seq, count, op, kind, subjects from changes order by seq',
];

test('what an import derives from hosts of earlier batches is the same with and without indexes', async (t) => {
  const hosts = ['www.a.example', 'user.github.io', 'b.co.uk', '198.51.100.7', '[2001:db8::7]', 'github.io'];
  const [imported, ordinary] = await Promise.all(
    [true, false].map(async (isForImport) => {
      const dataDir = temporaryFolder(t);
      const store = await openIntelligence({ dataDir }, { isForImport });
      for (let batch = 1; batch <= 3; batch++) {
        const row = { ts: batch * 100_000, status: 'online', ip: `203.0.113.${batch}` } as const;
        await store.apply(hosts.map((host) => seen({ ...row, url: `http://${host}/${batch}` })));
      }
      await store.createIndexes?.();
      await store.close();
      return DERIVED.map((sql) => read<object>(dataDir, sql).map((row) => Object.values(row)));
    }),
  );
  assert.deepEqual(imported, ordinary);
  for (const rows of imported ?? []) assert.ok(rows.length > 0);
});

test('after an interrupted import the next process creates the indexes before it answers', async (t) => {
  const dataDir = temporaryFolder(t);
  const killed = await openIntelligence({ dataDir }, { isForImport: true });
  await killed.apply(observed('a'));
  await killed.close();
  const next = await openIntelligence({ dataDir });
  assertComplete(t, dataDir);
  await next.close();
});

test('a process that opens the database during an import creates the indexes, and the import goes on', async (t) => {
  const dataDir = temporaryFolder(t);
  const importing = await openIntelligence({ dataDir }, { isForImport: true });
  await importing.apply(observed('a'));
  const other = await openIntelligence({ dataDir });
  assertComplete(t, dataDir);
  await other.apply(observed('b'));
  const [known, added] = [await importing.apply(observed('b')), await importing.apply(observed('c'))];
  assert.deepEqual([known.urlsAdded, added.urlsAdded], [0, 1]);
  await importing.createIndexes?.();
  await Promise.all([importing.close(), other.close()]);
  assertComplete(t, dataDir);
});

test('the indexes stay if another process has the database open, or if it has URLs', async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await openIntelligence({ dataDir });
  const beside = await openIntelligence({ dataDir }, { isForImport: true });
  assertComplete(t, dataDir);
  await beside.apply(observed('a'));
  await Promise.all([server.close(), beside.close()]);
  const second = await openIntelligence({ dataDir }, { isForImport: true });
  assertComplete(t, dataDir);
  await second.close();
});

test('a command after kill -9 of an import into a new folder creates the indexes, and says so', async (t) => {
  const dataDir = join(temporaryFolder(t), 'data');
  const rows = [...urlhausDump({ rows: 3_000, seed: 1 })].join('');
  const child = spawn(process.execPath, [PROGRAM, 'import', 'urlhaus-csv', '-', '--data', dataDir]);
  t.after(() => child.kill('SIGKILL'));
  child.stdin.on('error', () => {}); // it is killed while it reads
  child.stdin.write(rows);
  await until(() => hasUrls(dataDir), 'a batch is stored', 60_000);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const before = countIndexes(dataDir);
  const { code, stderr } = await urlwarden(['export', '--data', dataDir]);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /Creating the indexes of .*intelligence\.db/);
  assert.ok(countIndexes(dataDir) > before);
  assertComplete(t, dataDir);
  const again = await urlwarden(['import', 'urlhaus-csv', '-', '--data', dataDir, '--json'], rows);
  assert.equal(JSON.parse(again.stdout).read, 3_000);
  assert.doesNotMatch(again.stderr, /Creating/);
  assertComplete(t, dataDir);
});

function hasUrls(dataDir: string): boolean {
  try {
    return read(dataDir, 'select 1 from urls limit 1').length > 0;
  } catch {
    return false; // not there yet
  }
}
