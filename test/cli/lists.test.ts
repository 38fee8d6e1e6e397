import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { createAccount } from '../../src/accounts/manage.ts';
import { setTier } from '../../src/accounts/tiers.ts';
import { openIntelligence } from '../../src/app/stores.ts';
import { shorten, table } from '../../src/cli/output.ts';
import { NO_COUNTS } from '../../src/ingest/store.ts';
import { temporaryControl } from '../temporary-control.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { PROGRAM, urlwarden } from './urlwarden.ts';

const LONG = 'a-very-long-name-of-a-thing-that-somebody-once-chose-for-it-0123';
const URL = `https://feeds.example/${'folder/'.repeat(20)}list.csv`;
const ALLOWED = '2001:4860:1111:2222:3333:4444:5555:7770/124';
const NETWORK = '2001:4860:1111:2222:3333:4444:5555:6660/124';

test('lists fit 80 columns with long names, and COLUMNS sets another width', async (t) => {
  const dataDir = temporaryFolder(t);
  const control = await temporaryControl(t, dataDir);
  const run = async (...args: string[]) => (await urlwarden([...args, '--data', dataDir])).stdout;
  await run('feed', 'add', LONG, '--format', 'malwarebazaar-csv', '--url', URL);
  const lastError = `${URL} responds with 403: ${'this publisher wants a key '.repeat(5)}`;
  await control.changeFeed(LONG, { lastError, rows: 123_456_789, lastSuccessTs: 1_767_225_600 });
  await setTier(control, { ...TIER, name: LONG.slice(0, 60) });
  await createAccount(control, { username: LONG, tier: LONG.slice(0, 60), password: 'a password of length' }, 1);
  const id = await control.importStarted({ feed: LONG, format: 'malwarebazaar-csv', source: URL, startedTs: 1 });
  const counts = { ...NO_COUNTS, read: 12_345_678, urlsAdded: 1_234_567, rejected: 12_345_678 };
  await control.importFinished(id, { finishedTs: 2, outcome: 'done', counts, error: null });
  const store = await openIntelligence({ dataDir });
  await store.close();
  await run('allow', 'add', ALLOWED, '--reason', 'because of this and that, '.repeat(5));
  await run('listing', 'add', NETWORK, '--dataset', 'DROP', '--reason', 'because '.repeat(20));

  for (const args of [
    ['feed', 'list'],
    ['import', 'list'],
    ['account', 'list'],
    ['tier', 'list'],
    ['allow', 'list'],
    ['listing', 'show', NETWORK],
    ['key', 'list'],
  ]) {
    const stdout = await run(...args);
    const lines = stdout.split('\n');
    assert.ok(lines.length > 1, stdout);
    for (const line of lines) assert.ok([...line].length <= 80, `${args.join(' ')}: ${line.length} columns\n${line}`);
  }
  const feeds = await run('feed', 'list');
  assert.match(
    feeds,
    /^a-ver\S+…\S+ +stale +\S+ +1 h +2026-01-01T00:00:00Z +123456789\n {2}https:\S+…\S+list\.csv\n {2}responds with 403: /m,
  );
  assert.match(await run('import', 'list'), /\n {2}malwarebazaar-csv from\n {2}https:\/\/feeds\S+…\S+list\.csv\n$/);
  const env = { ...process.env, COLUMNS: '400' };
  const wide = await promisify(execFile)(process.execPath, [PROGRAM, 'import', 'list', '--data', dataDir], { env });
  assert.ok(wide.stdout.includes(`malwarebazaar-csv from ${URL}\n`) && wide.stdout.includes(LONG), wide.stdout);
});

const TIER = {
  trs: 'base',
  ads: ['URL'],
  qms: 2_147_483_647,
  qmh: 2_147_483_647,
  rlQps: null,
  rlQpm: null,
  rlQph: null,
};

test('sentences lose their end, names their middle', () => {
  for (const [text, columns, expected] of [
    ['abcdef', 6, 'abcdef'],
    ['abcdefg', 6, 'abc…fg'],
    ['abcdefg', 5, 'ab…fg'],
    ['one two three', 8, 'one two…'],
    ['ä😀ö😀ü', 3, 'ä…ü'],
  ] as const) {
    assert.equal(shorten(text, columns), expected);
  }
});

test('only the named columns of a table are shortened, and none below its heading', () => {
  const long = 'x'.repeat(90);
  const [, row] = table(['FIXED', 'NAME'], [['y'.repeat(90), long]], { shortened: ['NAME'] }).split('\n');
  assert.equal(row, `${'y'.repeat(90)}  xx…x`);
  assert.equal(table(['NAME'], [[long]]).split('\n')[1], long);
});
