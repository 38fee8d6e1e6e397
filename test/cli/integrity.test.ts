import assert from 'node:assert/strict';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { DEMO_ACCOUNT } from '../../src/accounts/first-account.ts';
import { openControl, openIntelligence } from '../../src/app/stores.ts';
import { paths } from '../../src/core/paths.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { openReader, withWriter } from '../../src/database/sqlite/database.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { hashOf, NEW_YEAR, seen } from '../urls/contract/observations.ts';
import { startReusedServer, tokenOf } from './server.ts';
import { urlwarden } from './urlwarden.ts';

const A = 'http://a.example/';
const OBSERVATIONS = [
  seen({ ts: NEW_YEAR, url: A, payload: { sha256: hashOf('a'), family: 'Mirai' } }),
  seen({ ts: NEW_YEAR + 10, url: A, status: 'offline' }),
  ...Array.from({ length: 400 }, (_, i) => seen({ ts: NEW_YEAR, url: `http://u${i}.example/` })),
];

async function filledFolder(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const store = await openIntelligence({ dataDir });
  await store.apply(OBSERVATIONS);
  await store.close();
  const control = await openControl({ dataDir });
  await control.addUsage([{ sub: '00000001', day: 20_000, month: 657, count: 3 }]);
  await control.close();
  const file = dataFiles(dataDir).intelligence;
  return {
    dataDir,
    file,
    run: (sql: string) => withWriter(file, (db) => db.exec(sql)),
    integrity: (...flags: string[]) => urlwarden(['integrity', '--data', dataDir, ...flags]),
  };
}

const PAGE_BYTES = 4_096;

/** Changes bytes of the root page of a table or an index. */
function damage(file: string, name: string, atByte: number, change: (byte: number) => number, bytes = 1): void {
  const db = openReader(file);
  const sql = 'select rootpage from sqlite_schema where name = ?';
  const page = db.prepare<[number]>(sql).get(name)?.[0] ?? 0;
  db.close();
  const open = openSync(file, 'r+');
  const content = Buffer.alloc(bytes);
  const position = (page - 1) * PAGE_BYTES + atByte;
  readSync(open, content, 0, bytes, position);
  writeSync(open, content.map(change), 0, bytes, position);
  closeSync(open);
}

describe('urlwarden integrity', () => {
  it('finds nothing in a sound folder', async (t) => {
    const { integrity } = await filledFolder(t);
    const { code, stdout, stderr } = await integrity();
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(
      stdout,
      /^The structure of \d+ tables was checked\. [\d,]+ rows were compared with each other\.\nNo fault was found\.\n$/,
    );
    const json = JSON.parse((await integrity('--json')).stdout);
    assert.deepEqual([json.faults, json.repairable, json.repaired, json.shown], [0, 0, 0, []]);
    assert.ok(json.tables > 20 && json.rows > 800, JSON.stringify(json));
  });

  it('refuses a folder without data', async (t) => {
    const { code, stderr } = await urlwarden(['integrity', '--data', join(temporaryFolder(t), 'nothing')]);
    assert.equal(code, 1);
    assert.match(stderr, /^There is no data in .*: set the data folder with --data\n$/);
  });

  it('shows what is wrong, repairs what follows from other rows, and says what to do about the rest', async (t) => {
    const { integrity, run, dataDir } = await filledFolder(t);
    run(`update urls set event_ts = 1, payload_ts = null where url = '${A}'; delete from hosts where host = 'u7.example';
      delete from removals`);
    withWriter(dataFiles(dataDir).control, (db) => db.exec(`update usage set count = 9 where period = 'month'`));
    const found = await integrity();
    assert.equal(found.code, 1);
    assert.match(found.stdout, /\nFaults: 406\n\nTABLE {3}KEY +REPAIR +PROBLEM\n/);
    const lastStatus = /\nurls +\d+ +possible +the last status is offline@1 \(removal \d+, reporter \d+\), the newest/;
    assert.match(found.stdout, lastStatus);
    assert.match(found.stdout, /\nusage +00000001 month 657 +possible +the month has 9 queries, its days have 3\n/);
    assert.match(found.stdout, /\nand 392 more\n/);
    assert.match(found.stdout, /\nCan be repaired: 4\. Run the same command with --repair\.\n/);
    assert.match(found.stdout, /\nCannot be repaired: 402\. Restore a backup into a new folder \(urlwarden restore/);
    const repaired = await integrity('--repair', '--json');
    assert.equal(repaired.code, 1);
    const json = JSON.parse(repaired.stdout);
    // The host that was deleted gets a new id, and its event follows.
    assert.deepEqual([json.faults, json.repairable, json.repaired], [402, 0, 5]);
    const again = JSON.parse((await integrity('--repair', '--json')).stdout);
    assert.deepEqual([again.faults, again.repaired], [402, 0]);
  });

  it('builds an index again that disagrees with its table', async (t) => {
    const { integrity, file } = await filledFolder(t);
    damage(file, 'payloads_by_file', PAGE_BYTES - 1, (byte) => byte ^ 1);
    const found = await integrity();
    assert.equal(found.code, 1, found.stdout);
    assert.match(found.stdout, /\npayloads +possible +intelligence\.db: .* index payloads_by_file\n/);
    const repaired = await integrity('--repair');
    assert.equal(repaired.code, 0, repaired.stdout);
    assert.match(repaired.stdout, /\nRepaired: 1\n/);
    assert.equal((await integrity()).code, 0);
  });

  it('reports damaged pages and ends with exit code 1, also with --repair', async (t) => {
    const { integrity, file } = await filledFolder(t);
    damage(file, 'urls', 0, () => 0xff, 8);
    for (const flags of [[], ['--repair']]) {
      const { code, stdout, stderr } = await integrity(...flags);
      assert.deepEqual([code, stderr], [1, '']);
      assert.match(stdout, /\nurls +impossible +intelligence\.db: Tree \d+ page \d+: btreeInitPage\(\) returns error/);
      assert.match(stdout, /\nurls +after 0 +impossible +rows cannot be read: .*malformed\n/);
      assert.match(stdout, /\nCannot be repaired: \d+\. Restore a backup/);
    }
  });

  it('reports a file that is no database at all', async (t) => {
    const { integrity, file } = await filledFolder(t);
    const open = openSync(file, 'r+');
    writeSync(open, Buffer.alloc(PAGE_BYTES, 0xff));
    closeSync(open);
    const { code, stdout, stderr } = await integrity();
    assert.deepEqual([code, stderr], [1, '']);
    assert.match(stdout, /\nsqlite_schema +impossible +intelligence\.db: .*file is not a database\n/);
  });

  it('works on PostgreSQL, which checks its structure itself', async (t) => {
    const databaseUrl = await temporaryDatabase(t);
    const store = await openIntelligence({ dataDir: '', databaseUrl });
    t.after(() => store.close());
    await store.apply(OBSERVATIONS);
    const { code, stdout } = await urlwarden(['integrity', '--database-url', databaseUrl]);
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^The structure was not checked: PostgreSQL checks its own files \(docs\/scaling\.md\)\. [\d,]+ rows/,
    );
  });

  it('works beside a server, which reports the fault and shows the right status after the repair', async (t) => {
    const dataDir = temporaryFolder(t);
    await (await startReusedServer(t, ['--demo', '--data', dataDir])).stop('SIGTERM');
    const demo = join(dataDir, 'demo');
    const store = await openIntelligence({ dataDir: demo });
    await store.apply(OBSERVATIONS);
    await store.close();
    withWriter(dataFiles(demo).intelligence, (db) => db.exec(`update urls set event_kind = 0 where url = '${A}'`));
    const server = await startReusedServer(t, ['--demo', '--data', dataDir]);
    await until(() => server.stderr().includes('rows contradict each other'), 'the report', 100_000); // the pauses between pages grow with the load
    const { code, stdout } = await urlwarden(['integrity', '--repair', '--data', demo]);
    assert.deepEqual([code, /\nRepaired: 1\n/.test(stdout)], [0, true]);
    const token = await tokenOf(server.url, DEMO_ACCOUNT);
    const response = await fetch(server.url + paths.urlLast, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ url: A }),
    });
    assert.equal(((await response.json()) as { status: { status: string } }).status.status, 'offline');
  });
});
