import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NOT_RECORDED } from '../../src/audit/request-record.ts';
import { windowIndex } from '../../src/core/quota.ts';
import { addAccount } from '../accounts/world.ts';
import { asAdmin } from './as-admin.ts';
import { assertError, DAY, NOW } from './build.ts';
import { authorized, LIMITS, PASSWORD, USERNAME } from './with-accounts.ts';

const ADMIN = { source: 'api', actor: USERNAME, origin: '127.0.0.1' };

test('an administrator adds, changes, revokes and removes an account; each change is in the audit log', async (t) => {
  const removed: string[] = [];
  const deleteAccountKeys = async ({ sub }: { sub: string }) => removed.push(sub);
  const world = await asAdmin(t, { services: { admin: { deleteAccountKeys } } });
  const { app, change, audit, refresh, logIn } = world;

  const added = await change('/accounts', { username: 'Bob', password: PASSWORD });
  const { sub } = added.account;
  assert.equal(added.password, null);
  assert.deepEqual(added.account, {
    username: 'Bob',
    sub,
    tier: 'standard',
    enabled: true,
    admin: false,
    created_ts: NOW,
    queries_month: 0,
    queries_day: 0,
    soft: 100_000,
    hard: 150_000,
  });
  const token = await logIn('bob');
  const statusOf = async () => {
    await refresh();
    return (await app.inject(authorized(LIMITS, token))).statusCode;
  };
  assert.equal(await statusOf(), 200);

  const changed = await change('/accounts/bob', { tier: 'enterprise', enabled: false, admin: true });
  assert.deepEqual([changed.tier, changed.enabled, changed.admin], ['enterprise', false, true]);
  assert.equal(await statusOf(), 403);
  await change('/accounts/bob', { enabled: true, tier: 'enterprise' });
  assert.equal(await statusOf(), 200);
  await change('/accounts/bob/revoke');
  assert.equal(await statusOf(), 401);
  await change('/accounts/bob', { password: 'another' });
  assert.equal(await logIn('bob'), 'Bearer undefined', 'the old password is refused');
  await change('/accounts/BOB/remove');
  assert.deepEqual(removed, [sub]);
  assertError(await world.post('/accounts/bob/remove'), 404, /no account/);

  const entries = await audit(20);
  for (const { source, actor, origin } of entries) assert.deepEqual({ source, actor, origin }, ADMIN);
  assert.deepEqual(
    entries.map(({ action, subject, changes }) => [action, subject, Object.keys(changes)]),
    [
      ['account.add', 'Bob', ['sub', 'tier', 'enabled', 'admin', 'generation']],
      ['account.set', 'Bob', ['admin']],
      ['account.disable', 'Bob', ['enabled']],
      ['account.set', 'Bob', ['tier']],
      ['account.enable', 'Bob', ['enabled']],
      ['account.revoke', 'Bob', ['generation']],
      ['account.passwd', 'Bob', ['generation']],
      ['account.remove', 'Bob', ['sub', 'tier', 'enabled', 'admin', 'generation']],
    ],
  );
  assert.ok(!JSON.stringify(entries).includes(PASSWORD));
});

test('without a password one is generated, which works', async (t) => {
  const { app, change } = await asAdmin(t);
  const { password } = await change('/accounts', { username: 'bob', tier: 'developer', admin: true });
  assert.match(password, /^[\w-]{24}$/);
  const payload = { username: 'bob', password, realm: 'intel' };
  assert.equal((await app.inject({ method: 'POST', url: '/api/v1/login', payload })).statusCode, 200);
});

test('a change that cannot be written to the audit log is made, and the log of the server has it', async (t) => {
  const lines: string[] = [];
  const logger = { level: 'error', stream: { write: (line: string) => void lines.push(line) } };
  const { app, control, change, sub } = await asAdmin(t, { options: { logger } });
  control.addAudit = () => Promise.reject(new Error('no more entries'));
  const { password } = await change('/accounts', { username: 'bob', tier: 'developer' });
  const payload = { username: 'bob', password, realm: 'intel' };
  assert.equal((await app.inject({ method: 'POST', url: '/api/v1/login', payload })).statusCode, 200);
  assert.equal(lines.length, 1);
  const { msg, err, action, subject, changes, sub: by } = JSON.parse(lines[0] ?? '');
  assert.deepEqual(
    [msg, err.message, action, subject, changes.tier, by],
    [NOT_RECORDED, 'no more entries', 'account.add', 'bob', { old: null, new: 'developer' }, sub],
  );
  assert.ok(!lines.join('').includes(password));
});

test('a request that is refused changes nothing', async (t) => {
  const { post, audit, read } = await asAdmin(t);
  const LONG = 'x'.repeat(255);
  const refusals: [path: string, payload: object, status: number, message: RegExp][] = [
    ['/accounts', {}, 400, /"username" is missing/],
    ['/accounts', { username: 'bob', role: 'x' }, 400, /Unknown key "role"/],
    ['/accounts', { username: 'bob', admin: 'yes' }, 400, /"admin" must be true or false/],
    ['/accounts', { username: '' }, 400, /1 to 254 characters/],
    ['/accounts', { username: LONG }, 400, /1 to 254 characters/],
    ['/accounts', { username: 'a\0b' }, 400, /username/],
    ['/accounts', { username: `${USERNAME} ` }, 400, /white space/],
    ['/accounts', { username: USERNAME.toUpperCase() }, 400, /already exists/],
    ['/accounts', { username: 'bob', tier: 'nope' }, 404, /no tier "nope"/],
    ['/accounts', { username: 'bob', password: '' }, 400, /password/],
    [`/accounts/${USERNAME}`, {}, 400, /one or more of tier, enabled, admin, password/],
    [`/accounts/${USERNAME}`, { tier: 'nope' }, 404, /no tier/],
    [`/accounts/${USERNAME}`, { tier: 'standard', password: 'x'.repeat(1025) }, 400, /password/],
    ['/accounts/nobody', { enabled: false }, 404, /no account "nobody"/],
    ['/accounts/nobody/revoke', {}, 404, /no account/],
    ['/accounts/%00', { enabled: false }, 400, /username/],
    [`/accounts/${LONG}/remove`, {}, 400, /username/],
    [`/accounts/${USERNAME}/remove`, { yes: 1 }, 400, /Unknown key/],
  ];
  for (const [path, payload, status, message] of refusals) assertError(await post(path, payload), status, message);
  assert.deepEqual(await audit(10), []);
  assert.deepEqual(
    (await read('/accounts')).items.map(({ username, tier }: Record<string, unknown>) => [username, tier]),
    [[USERNAME, 'tested']],
  );
});

test('usernames with any characters are shown as they are and can be addressed', async (t) => {
  const { change, read, audit, control } = await asAdmin(t);
  const isRefused = (username: string) => /[\r\u202E]/.test(username);
  const hostile = [
    '<script>alert(1)</script>',
    '"; drop table accounts; --',
    '../../etc/passwd',
    'a/b?c#d&e=f%2F%zz',
    '__proto__',
    'constructor',
    '\u202Etxt.exe',
    'line\r\nSet-Cookie: x',
    '😀 ü ＡＢ',
    'x'.repeat(254),
  ];
  for (const [i, username] of hostile.entries()) {
    // Older accounts may have such a name; a new one is refused.
    if (isRefused(username)) await addAccount(control, { username, sub: `1000000${i}` });
    else assert.equal((await change('/accounts', { username, password: 'x' })).account.username, username);
    const path = `/accounts/${encodeURIComponent(username)}`;
    assert.equal((await change(path, { enabled: false })).enabled, false);
    assert.deepEqual((await read(`${path}/usage`)).days, []);
  }
  const listed = (await read('/accounts')).items.map(({ username }: { username: string }) => username);
  for (const username of hostile) assert.ok(listed.includes(username), username);
  for (const username of hostile) await change(`/accounts/${encodeURIComponent(username)}/remove`);
  assert.equal((await read('/accounts')).items.length, 1);
  assert.deepEqual(
    (await audit(hostile.length)).map(({ subject }) => subject),
    hostile,
  );
});

test('the queries of accounts: of this month and today in the list, by day for one account', async (t) => {
  const { control, sub, read, get } = await asAdmin(t);
  const today = windowIndex('day', NOW);
  const month = windowIndex('month', NOW);
  await control.addUsage([
    { sub, day: today, month, count: 7 },
    { sub, day: today - 1, month: month - 1, count: 5 },
    { sub, day: today - 100, month: windowIndex('month', NOW - 100 * DAY), count: 3 },
  ]);
  const [item] = (await read('/accounts')).items;
  assert.deepEqual([item.queries_month, item.queries_day, item.soft, item.hard], [7, 7, 1_000_000, 1_000_000]);
  assert.deepEqual(await read(`/accounts/${USERNAME}/usage`), {
    from_day: '2025-10-04',
    to_day: '2026-01-01',
    days: [
      { day: '2025-12-31', queries: 5 },
      { day: '2026-01-01', queries: 7 },
    ],
    month: { queries: 7, soft: 1_000_000, hard: 1_000_000, resets_ts: NOW + 31 * DAY },
  });
  assert.equal((await read(`/accounts/${USERNAME}/usage?days=101`)).days[0].queries, 3);
  for (const days of ['0', '801', 'x']) {
    assertError(await get(`/accounts/${USERNAME}/usage?days=${days}`), 400, /"days" must be/);
  }
  assertError(await get('/accounts/nobody/usage'), 404);
});

test('a long list of accounts is sent in pieces, and is one JSON value', async (t) => {
  const { control, get } = await asAdmin(t);
  for (let i = 0; i < 600; i++) await addAccount(control, { username: `user${i}`, sub: `${10_000_000 + i}` });
  const [day, month] = [windowIndex('day', NOW), windowIndex('month', NOW)];
  await control.addUsage([{ sub: '10000042', day, month, count: 42 }]);
  const response = await get('/accounts');
  assert.equal(response.headers['content-length'], undefined);
  const { items } = response.json() as { items: { username: string; queries_month: number }[] };
  assert.deepEqual([items.length, new Set(items.map(({ username }) => username)).size], [601, 601]);
  assert.equal(items.find(({ username }) => username === 'user42')?.queries_month, 42);
});
