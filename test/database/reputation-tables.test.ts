import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import postgres from 'postgres';
import { openControl, openIntelligence } from '../../src/app/stores.ts';
import { backupData, restoreData } from '../../src/database/backup.ts';
import { copyData } from '../../src/database/copy.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { makeDatabase } from '../servers/temporary-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** More than one page of a copy where the key has bytes or texts: both engines must agree on its order. */
const PAGED = new Set(['episodes', 'name_lists', 'senders']);
const rowsOf = (table: string) => (PAGED.has(table) ? 5_200 : 200);

/** Spreads the keys over all first bytes, also over those of 0x80 and more. */
const IP = `unhex(printf('%08X%024X', (i * 2654435761) % 4294967296, i))`;
/** In an order that most collations change. */
const NAME = `substr('aBzZä_-.ß€', 1 + i % 10, 1) || char(65 + i % 58) || i`;

/** The tables of reputation, and how row number i is made. */
const TABLES: Record<string, string> = {
  sources: `i, ${NAME}, i % 901, iif(i % 2, 86400 * i, null), iif(i % 3, 3600, null), iif(i % 4, 1700000000 + i, null)`,
  episodes: `${IP}, i % 129, i % 4, i, i % 7, i % 65536 - 1, 1700000000 + i, 4000000000 + i, iif(i % 2, '', '{"helo":"a\\tb"}')`,
  listing_blocks: `${IP}, i % 129, i % 128`,
  listing_removals: `${IP}, i % 129, i % 4, i % 3, 1700000000 + i, 4000000000 + i, ${NAME}`,
  network_lists: `i % 2, ${IP}, i % 129, i, 1700000000 + i, ${NAME}`,
  name_lists: `${NAME}, i % 4, i, iif(i % 2, i, null), 1700000000 + i`,
  domains: `i, ${NAME}, iif(i % 2, 1700000000 + i, null)`,
  hosts: `i, ${NAME}, iif(i % 2, i, null), iif(i % 2, null, ${IP})`,
  url_sightings: `i, i % 5, i % 7, 1700000000 + i`,
  domain_evidence: `i % 50, i % 3, i % 3, i, -1700000000 - i, 1700000000 + i, i % 101, 1, 4000000000 + i, '{"tags":["malware"]}'`,
  name_addresses: `i % 50, i % 7, ${IP}, 19000 + i % 400, i % 2, 1700000000 + i`,
  name_servers: `i % 50, i, 19000 + i % 400, 1700000000 + i`,
  senders: `i % 50, ${IP}, iif(i % 5, ${NAME}, ''), 1700000000 + i`,
  domain_whois: `i, 1700000000 + i, iif(i % 2, -86400 * i, null), iif(i % 3, 4000000000 + i, null), iif(i % 5, ${NAME}, null)`,
  domain_rebuild: `i, i % 2, i, 2 * i`,
  domain_settings: `i, i % 101 - 50, iif(i % 3 = 2, null, i % 3), ${NAME}, 1700000000 + i`,
};

const MIGRATION = new URL('../../migrations/sqlite/0006_intelligence_reputation.sql', import.meta.url);

async function emptyFolder(t: TestContext): Promise<string> {
  const dataDir = join(temporaryFolder(t), 'data');
  await (await openIntelligence({ dataDir })).close();
  await (await openControl({ dataDir })).close();
  return dataDir;
}

/** A data folder whose tables of reputation are full. */
async function fill(t: TestContext): Promise<string> {
  const dataDir = await emptyFolder(t);
  const db = new DatabaseSync(dataFiles(dataDir).intelligence);
  db.exec('begin');
  for (const [table, values] of Object.entries(TABLES)) {
    db.exec(`with recursive n (i) as (select 1 union all select i + 1 from n where i < ${rowsOf(table)})
      insert into ${table} select ${values} from n`);
  }
  db.exec('update list_version set version = 5; commit');
  db.close();
  return dataDir;
}

/** All rows of a table, in an order that does not depend on the engine. */
type Dump = Record<string, string[]>;

function comparable(rows: readonly object[]): string[] {
  const cell = (value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value);
  return rows.map((row) => JSON.stringify(Object.values(row).map(cell))).sort();
}

const NAMES = [...Object.keys(TABLES), 'list_version'];

function dumpFolder(dataDir: string): Dump {
  const db = new DatabaseSync(dataFiles(dataDir).intelligence, { readOnly: true });
  const dump = NAMES.map((name) => [name, comparable(db.prepare(`select * from ${name}`).all())] as const);
  db.close();
  return Object.fromEntries(dump);
}

test('the tables above are those of the migration, and hosts, which it extends', () => {
  const created = [...readFileSync(MIGRATION, 'utf8').matchAll(/^create table (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual([...created, 'hosts'].sort(), NAMES.toSorted());
});

test('a move copies every table of reputation, and new rows get the next ids', async (t) => {
  const dataDir = await fill(t);
  const databaseUrl = await makeDatabase();
  const { isFinished, rows } = await copyData({ dataDir, databaseUrl, signal: new AbortController().signal });
  assert.equal(isFinished, true);
  const bigint = { to: 20, from: [20], serialize: String, parse: Number };
  const sql = postgres(databaseUrl, { max: 1, types: { bigint } });
  t.after(() => sql.end());
  const expected = dumpFolder(dataDir);
  for (const name of NAMES) {
    assert.equal(expected[name]?.length, name === 'list_version' ? 1 : rowsOf(name), name);
    assert.equal(rows[name], expected[name]?.length, name);
    assert.deepEqual(comparable(await sql.unsafe(`select * from ${name}`)), expected[name], name);
  }
  for (const table of ['sources (name, trust_permille) values (', 'domains (name, first_url_ts) values (']) {
    const [added] = await sql.unsafe(`insert into ${table}'new', 1) returning id`);
    assert.equal(added?.id, 201, table);
  }
});

test('a backup has every table of reputation', async (t) => {
  const dataDir = await fill(t);
  const [file, restored] = [`${dataDir}.backup`, `${dataDir}.restored`];
  await backupData({ dataDir, file });
  await restoreData({ file, dataDir: restored });
  assert.deepEqual(dumpFolder(restored), dumpFolder(dataDir));
});

test('a move refuses a database that has evidence or domains, but no URLs', async (t) => {
  const dataDir = await emptyFolder(t);
  for (const row of [`sources (name, trust_permille) values ('own', 900)`, `domains (name) values ('bad.example')`]) {
    const databaseUrl = await makeDatabase();
    await (await openIntelligence({ dataDir, databaseUrl })).close();
    const sql = postgres(databaseUrl, { max: 1 });
    await sql.unsafe(`insert into ${row}`).finally(() => sql.end());
    const copying = copyData({ dataDir, databaseUrl, signal: new AbortController().signal });
    await assert.rejects(copying, /already contains data/);
  }
});
