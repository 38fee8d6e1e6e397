import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { monthText, windowIndex } from '../../src/core/quota.ts';
import { ADA } from '../app/control-records.ts';
import { temporaryControl } from '../temporary-control.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { PROGRAM, urlwarden } from './urlwarden.ts';

const COLUMNS = 80;
/** October 2020 and its first day. */
const OCTOBER = { month: 609, day: 18_536 };
const LONG_NAME = `customer-${'x'.repeat(200)}@example`;

async function open(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const control = await temporaryControl(t, dataDir);
  const report = (...args: string[]) => urlwarden(['usage', 'report', ...args, '--data', dataDir]);
  return { dataDir, control, report };
}

/** Three accounts with queries in October 2020, of which `gone` is removed. */
async function withUsage(t: TestContext) {
  const world = await open(t);
  const names = ['=cmd()', LONG_NAME, 'gone'];
  for (const [i, username] of names.entries()) {
    const sub = `${10_000_001 + i}`;
    const tier = i === 1 ? 'operator' : 'developer';
    await world.control.addAccount({ ...ADA, sub, username, usernameKey: username, tier });
    await world.control.addUsage([
      { sub, ...OCTOBER, count: 2_500 * (i + 1) },
      { sub, ...OCTOBER, day: OCTOBER.day + 30, count: i === 1 ? 2_000_000_000 : 1 },
    ]);
  }
  await world.control.removeAccount('10000003', 1_794_000_000);
  return world;
}

describe('urlwarden usage report', () => {
  it(`prints accounts and days in ${COLUMNS} columns, without the names of removed accounts`, async (t) => {
    const { report } = await withUsage(t);
    const { code, stdout, stderr } = await report('--month', '2020-10');
    assert.deepEqual([code, stderr], [0, '']);
    for (const line of stdout.split('\n')) assert.ok(line.length <= COLUMNS, line);
    assert.match(stdout, /^Queries in 2020-10: 2000015002\n\nUSERNAME +SUB +QUERIES +SOFT LIMIT +HARD LIMIT +LIMITS\n/);
    assert.match(stdout, /^=cmd\(\) +10000001 +2501 +5000 +5000\n/m);
    assert.match(stdout, /^customer-x{16}… +10000002 +2000005000 +2147483647 +2147483647\n/m);
    assert.match(stdout, /^\(removed\) +10000003 +7501 +5000 +5000 {2}hard\n/m);
    assert.match(stdout, /^10000001 {2}2020-10-01 +2500\n10000001 {2}2020-10-31 +1\n/m);
    assert.doesNotMatch(stdout, /gone/);
  });

  it('--csv prints a row per account and day that no spreadsheet runs as a formula', async (t) => {
    const { report } = await withUsage(t);
    const { code, stdout } = await report('--month', '2020-10', '--csv');
    assert.equal(code, 0);
    const [head, first, ...rows] = stdout.split('\r\n');
    assert.equal(
      head,
      'month,day,sub,username,tier,removed_ts,queries,month_queries,qms,qmh,soft_limit_passed,hard_limit_reached',
    );
    assert.equal(first, "2020-10,2020-10-01,10000001,'=cmd(),developer,,2500,2501,5000,5000,false,false");
    assert.equal(rows[3], '2020-10,2020-10-01,10000003,,developer,1794000000,7500,7501,5000,5000,true,true');
    assert.equal(rows.length, 6);
  });

  it('--json prints the report with stable keys; --final marks the month after it was written', async (t) => {
    const { control, report } = await withUsage(t);
    const removed = {
      sub: '10000003',
      username: null,
      tier: 'developer',
      removed_ts: 1_794_000_000,
      queries: 7_501,
      qms: 5_000,
      qmh: 5_000,
      soft_limit_passed: true,
      hard_limit_reached: true,
      days: [
        { day: '2020-10-01', queries: 7_500 },
        { day: '2020-10-31', queries: 1 },
      ],
    };
    const { accounts, ...others } = JSON.parse((await report('--month', '2020-10', '--json')).stdout);
    assert.deepEqual(others, { month: '2020-10', complete: true, reported_ts: null, queries: 2_000_015_002 });
    assert.deepEqual(accounts[2], removed);
    assert.equal(await control.reportedTs(OCTOBER.month), null);

    const final = JSON.parse((await report('--month', '2020-10', '--json', '--final')).stdout);
    assert.deepEqual(final.accounts, accounts);
    const reportedTs = await control.reportedTs(OCTOBER.month);
    assert.ok(reportedTs !== null && reportedTs === final.reported_ts);
    assert.match(
      (await report('--month', '2020-10')).stdout,
      /\nReported on 20\d\d-.*Z: usage of removed accounts is /,
    );
  });

  it('a report that could not be written does not mark its month', async (t) => {
    const { dataDir, control } = await withUsage(t);
    const args = ['usage', 'report', '--month', '2020-10', '--final', '--data', dataDir];
    const full = openSync('/dev/full', 'w'); // each write fails: the disk is full
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', full, 'pipe'] });
    closeSync(full);
    assert.equal(status, 1);
    assert.match(`${stderr}`, /^The output cannot be written: ENOSPC: .*\n$/);
    assert.equal(await control.reportedTs(OCTOBER.month), null);
  });

  it('without --month it reports the last month that is over; a month without queries is one sentence', async (t) => {
    const { report } = await open(t);
    const last = monthText(windowIndex('month', Math.floor(Date.now() / 1000)) - 1);
    assert.equal((await report()).stdout, `No queries are stored for ${last}.\n`);
    assert.deepEqual(JSON.parse((await report('--json')).stdout).accounts, []);
  });

  it('refuses a wrong month, and --final before the month is over', async (t) => {
    const { report } = await open(t);
    const current = monthText(windowIndex('month', Math.floor(Date.now() / 1000)));
    for (const [args, reason] of [
      [['--month', '2026-13'], /^--month must be like 2026-10, not "2026-13"\n/],
      [['--month', '9999-01'], /^--month 9999-01 is in the future: this month is /],
      [['--csv', '--json'], /^--csv and --json exclude each other/],
      [['--month', current, '--final'], /is not over yet/],
    ] as const) {
      const { code, stdout, stderr } = await report(...args);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, reason);
    }
    assert.match((await report('--month', current)).stdout, /, which is not over yet\.\n$/);
  });
});
