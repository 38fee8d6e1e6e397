import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { makeDatabase } from '../servers/temporary-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { urlwarden } from './urlwarden.ts';

const NETWORK = '203.0.113.0/24';
const PASSWORD = 'a-secret-password-5120';
const HEADER = 'a-secret-header-7731';
const LONG = `${'long '.repeat(40)}reason`;

/** Commands with their standard input, and what the audit log has of each. */
const CHANGES: [args: string[], stdin: string, entry: [action: string, subject: string, changes: object]][] = [
  [['tier', 'set', 'gold', '--qms', '5', '--qmh', '30', '--ads', 'URL'], '', ['tier.set', 'gold', { qms: [null, 5] }]],
  [['tier', 'set', 'gold', '--qms', '6', '--qmh', '30', '--ads', 'URL'], '', ['tier.set', 'gold', { qms: [5, 6] }]],
  [['account', 'add', 'Ada'], PASSWORD, ['account.add', 'Ada', { tier: [null, 'standard'], enabled: [null, true] }]],
  [['account', 'set', 'ada', '--tier', 'gold'], '', ['account.set', 'Ada', { tier: ['standard', 'gold'] }]],
  [['account', 'add', 'grace', '--admin'], PASSWORD, ['account.add', 'grace', { admin: [null, true] }]],
  [['account', 'set', 'ada', '--admin', 'yes'], '', ['account.set', 'Ada', { admin: [false, true] }]],
  [['account', 'set', 'ada', '--admin', 'no'], '', ['account.set', 'Ada', { admin: [true, false] }]],
  [['account', 'disable', 'ada'], '', ['account.disable', 'Ada', { enabled: [true, false] }]],
  [['account', 'enable', 'ada'], '', ['account.enable', 'Ada', { enabled: [false, true] }]],
  [['account', 'passwd', 'ada'], PASSWORD, ['account.passwd', 'Ada', { generation: [1, 2] }]],
  [['account', 'revoke', 'ada'], '', ['account.revoke', 'Ada', { generation: [2, 3] }]],
  [['account', 'remove', 'ada', '--yes'], '', ['account.remove', 'Ada', { tier: ['gold', null] }]],
  [['tier', 'remove', 'gold'], '', ['tier.remove', 'gold', { qms: [6, null], ads: [['URL'], null] }]],
  [
    ['feed', 'add', 'urlhaus', '--header', 'Auth-Key'],
    HEADER,
    ['feed.add', 'urlhaus', { headers: [null, ['Auth-Key']] }],
  ],
  [['feed', 'set', 'urlhaus', '--every', '15m'], '', ['feed.set', 'urlhaus', { every_seconds: [300, 900] }]],
  [['feed', 'pause', 'urlhaus'], '', ['feed.pause', 'urlhaus', { paused: [false, true] }]],
  [['feed', 'resume', 'urlhaus'], '', ['feed.resume', 'urlhaus', { paused: [true, false] }]],
  [['feed', 'remove', 'urlhaus', '--yes'], '', ['feed.remove', 'urlhaus', { format: ['urlhaus-csv', null] }]],
  [
    ['listing', 'add', NETWORK, '--dataset', 'BCL', '--botname', 'Emotet', '--allow-reserved'],
    '',
    ['listing.add', NETWORK, { dataset: [null, 'BCL'], botname: [null, 'Emotet'] }],
  ],
  [
    ['listing', 'remove', NETWORK, '--reason', LONG],
    '',
    ['listing.remove', NETWORK, { listed: [['BCL by operator'], null], reason: [null, LONG] }],
  ],
  [['allow', 'add', NETWORK, '--reason', 'ours'], '', ['allow.add', NETWORK, { reason: [null, 'ours'] }]],
  [['allow', 'add', NETWORK, '--reason', 'mine'], '', ['allow.add', NETWORK, { reason: ['ours', 'mine'] }]],
  [['allow', 'remove', NETWORK], '', ['allow.remove', NETWORK, { sources: [['operator'], null] }]],
  [['domain', 'set', 'shop.example', '--abused', 'yes'], '', ['domain.set', 'shop.example', { abused: [null, true] }]],
  [['domain', 'set', 'shop.example', '--abused', 'no'], '', ['domain.set', 'shop.example', { abused: [true, false] }]],
];

type Shown = { action: string; subject: string; actor: string; source: string; changes: Record<string, unknown> };

/** Without PostgreSQL each command takes a fifth of a second. */
async function checkChanges(place: string[], changes: typeof CHANGES): Promise<void> {
  for (const [args, stdin] of changes) {
    const { code, stderr } = await urlwarden([...args, ...place], `${stdin}\n`);
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  }
  const { stdout } = await urlwarden(['audit', '--json', ...place]);
  const entries = (JSON.parse(stdout) as Shown[]).reverse();
  assert.equal(entries.length, changes.length);
  for (const [i, [args, , [action, subject, fields]]] of changes.entries()) {
    const entry = entries[i] as Shown;
    assert.deepEqual([entry.action, entry.subject, entry.source], [action, subject, 'cli'], args.join(' '));
    for (const [field, [old, value]] of Object.entries(fields)) {
      assert.deepEqual(entry.changes[field], { old, new: value }, `${args.join(' ')}: ${field}`);
    }
  }
  const text = (await urlwarden(['audit', ...place])).stdout;
  for (const line of text.split('\n')) assert.ok(line.length <= 80, line);
  for (const secret of [PASSWORD, HEADER, '$argon2']) assert.ok(!(text + stdout).includes(secret), secret);
}

test('every change by a command is in the audit log, with its old and new values and without secrets', async (t) => {
  await checkChanges(['--data', temporaryFolder(t)], CHANGES);
});

test('changes in PostgreSQL are in its audit log', async () => {
  const place = ['--database-url', await makeDatabase()];
  await checkChanges(
    place,
    CHANGES.filter(([, , [action]]) => ['account.add', 'feed.add', 'domain.set'].includes(action)),
  );
});

test('the audit log names the caller of sudo, the new key, and is filtered', async (t) => {
  const place = ['--data', temporaryFolder(t)];
  process.env.SUDO_USER = 'grace';
  t.after(() => {
    delete process.env.SUDO_USER;
  });
  await urlwarden(['allow', 'add', NETWORK, ...place]);
  const { kid } = JSON.parse((await urlwarden(['key', 'rotate', '--json', ...place])).stdout);
  const list = async (...flags: string[]) =>
    JSON.parse((await urlwarden(['audit', '--json', ...flags, ...place])).stdout) as Shown[];
  const [entry] = await list('--action', 'key');
  assert.equal(entry?.actor, `${userInfo().username} (sudo by grace)`);
  assert.deepEqual([entry?.subject, entry?.changes], [kid, { keys: { old: [], new: [kid] } }]);
  const actions = async (...flags: string[]) => (await list(...flags)).map(({ action }) => action);
  assert.deepEqual(await actions('--subject', NETWORK), ['allow.add']);
  assert.deepEqual(await actions('--limit', '1'), ['key.rotate']);
  assert.deepEqual(await actions('--until', '2026-01-01'), []);
  assert.deepEqual(await actions('--since', '2026-01-01'), ['key.rotate', 'allow.add']);
  for (const [flags, message] of [
    [['--action', 'acount'], /Did you mean "account"/],
    [['--limit', '0'], /--limit must be a whole number from 1 to 10000/],
  ] as const) {
    const { code, stderr } = await urlwarden(['audit', ...flags, ...place]);
    assert.equal(code, 2);
    assert.match(stderr, message);
  }
});

test('a change that cannot be written to the audit log is made, and the command fails and says so', async (t) => {
  const dataDir = temporaryFolder(t);
  await urlwarden(['account', 'add', 'ada', '--data', dataDir], 'secret\n');
  const db = new DatabaseSync(join(dataDir, 'control.db'));
  db.exec(`create trigger full before insert on audit begin select raise(abort, 'no more entries'); end`);
  db.close();
  for (const args of [
    ['account', 'disable', 'ada'],
    ['allow', 'add', NETWORK],
  ]) {
    const { code, stdout, stderr } = await urlwarden([...args, '--data', dataDir]);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /The change was made, but it is not in the audit log.*no more entries/);
  }
  assert.match((await urlwarden(['account', 'list', '--data', dataDir])).stdout, /disabled/);
  assert.match((await urlwarden(['allow', 'list', '--data', dataDir])).stdout, /203\.0\.113\.0\/24/);
});
