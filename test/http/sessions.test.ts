import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { InjectOptions } from 'fastify';
import { changePassword, createAccount, removeAccount, revokeTokens, setAccount } from '../../src/accounts/manage.ts';
import { paths } from '../../src/core/paths.ts';
import { until } from '../until.ts';
import { assertError, NOW } from './build.ts';
import { LIMITS, PASSWORD, QUERIES, USERNAME, type World, withAccounts } from './with-accounts.ts';

const HOUR = 3_600;
const SAME = { 'sec-fetch-site': 'same-origin' };
const LAST = QUERIES[1] as InjectOptions;
const SESSION: InjectOptions = { method: 'GET', url: paths.portalSession };

const post = (url: string, payload: object): InjectOptions => ({ method: 'POST', url, payload });

/** Logs in by page; returns the Cookie header. */
async function logIn(world: World, options: InjectOptions = {}, password = PASSWORD): Promise<string> {
  const response = await world.app.inject({
    ...post(paths.portalLogin, { username: USERNAME, password }),
    ...options,
    headers: { ...SAME, ...options.headers },
  });
  assert.equal(response.statusCode, 200, response.body);
  return cookieOf(response.headers['set-cookie']);
}

const cookieOf = (setCookie: unknown): string => String(setCookie).split(';')[0] ?? '';

const withCookie = (
  request: InjectOptions,
  cookie: string,
  headers: InjectOptions['headers'] = SAME,
): InjectOptions => ({
  ...request,
  headers: { cookie, ...headers },
});

async function statusOf(world: World, cookie: string, request = SESSION): Promise<number> {
  return (await world.app.inject(withCookie(request, cookie))).statusCode;
}

/** Uses the session at a time at which the use is written. The response does not wait for that. */
async function use(world: World, cookie: string, ts: number): Promise<void> {
  await world.setNow(ts);
  assert.equal(await statusOf(world, cookie), 200);
  await until(async () => (await world.control.sessions(world.sub))[0]?.usedTs === ts, `used at ${ts}`);
}

async function open(t: TestContext) {
  const world = await withAccounts(t);
  return { ...world, world, cookie: await logIn(world) };
}

test('a login starts a session whose cookie works for pages and the API', async (t) => {
  const world = await withAccounts(t);
  await setAccount(world.control, USERNAME, { isAdmin: true });
  const response = await world.app.inject(post(paths.portalLogin, { username: USERNAME, password: PASSWORD }));
  const expected = {
    username: USERNAME,
    sub: world.sub,
    tier: 'tested',
    admin: true,
    version: '1.2.3',
    secure: true,
    created_ts: NOW,
    expires_ts: NOW + 12 * HOUR,
  };
  assert.deepEqual(response.json(), expected);
  assert.match(
    String(response.headers['set-cookie']),
    /^__Host-urlwarden=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=604800$/,
  );
  const cookie = cookieOf(response.headers['set-cookie']);
  const session = await world.app.inject(withCookie(SESSION, `a=b; ${cookie}; __Host-other=1`));
  assert.deepEqual(session.json(), expected);
  for (const request of [LAST, LIMITS]) assert.equal(await statusOf(world, cookie, request), 200);
  assert.equal((await world.counters.read(world.sub)).counts.month, 1, 'a query from a page counts');
  for (const one of [response, session]) assert.equal(one.headers['cache-control'], 'no-store');
  const [stored] = await world.control.sessions(world.sub);
  assert.ok(stored !== undefined && !cookie.includes(stored.id));
});

test('a login is refused and throttled as that of the API', async (t) => {
  const { app } = await withAccounts(t);
  const wrong = post(paths.portalLogin, { username: USERNAME, password: 'wrong' });
  for (let i = 0; i < 5; i++) assertError(await app.inject(wrong), 401, /failed/);
  for (let i = 0; i < 5; i++) {
    assertError(await app.inject(post(paths.login, { username: USERNAME, password: 'wrong', realm: 'intel' })), 401);
  }
  const limited = await app.inject(post(paths.portalLogin, { username: USERNAME, password: PASSWORD }));
  assertError(limited, 429);
  assert.equal(limited.headers['set-cookie'], undefined);
});

/** Where a request with the cookie comes from; the server is http://localhost:80. */
const ORIGINS: [headers: Record<string, string>, get: number, post: number][] = [
  [{ 'sec-fetch-site': 'same-origin' }, 200, 200],
  [{ 'sec-fetch-site': 'same-origin', origin: 'http://localhost:80' }, 200, 200],
  [{ 'sec-fetch-site': 'same-site', origin: 'http://localhost:80' }, 403, 403],
  [{ 'sec-fetch-site': 'cross-site' }, 403, 403],
  [{ 'sec-fetch-site': 'none' }, 403, 403],
  [{ 'sec-fetch-site': '' }, 403, 403],
  [{ origin: 'http://localhost:80' }, 200, 200],
  [{ origin: 'https://localhost:80' }, 403, 403],
  [{ origin: 'http://localhost:81' }, 403, 403],
  [{ origin: 'http://evil.example' }, 403, 403],
  [{ origin: 'null' }, 403, 403],
  [{ origin: 'https://evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }, 403, 403],
  [{}, 200, 403],
];

test('the cookie is accepted only from the own origin, on every kind of endpoint', async (t) => {
  const { app, cookie } = await open(t);
  for (const [headers, get, posted] of ORIGINS) {
    for (const request of [SESSION, LIMITS, { ...SESSION, method: 'HEAD' as const }]) {
      assert.equal((await app.inject(withCookie(request, cookie, headers))).statusCode, get, JSON.stringify(headers));
    }
    for (const request of [LAST, post(paths.portalSessionsEnd, { others: true })]) {
      const { statusCode } = await app.inject(withCookie(request, cookie, headers));
      assert.equal(statusCode, posted, JSON.stringify(headers));
    }
  }
});

test('another site cannot log a browser in; a program without these headers can log in', async (t) => {
  const { app } = await withAccounts(t);
  for (const [headers, , posted] of ORIGINS) {
    const response = await app.inject({
      ...post(paths.portalLogin, { username: USERNAME, password: PASSWORD }),
      headers,
    });
    assert.equal(response.statusCode, Object.keys(headers).length === 0 ? 200 : posted, JSON.stringify(headers));
    if (response.statusCode !== 200) assert.equal(response.headers['set-cookie'], undefined);
  }
});

test('behind a trusted proxy, the own origin is what the proxy says; otherwise its headers are ignored', async (t) => {
  const world = await withAccounts(t, {}, { options: { trustedProxies: ['10.0.0.2'] } });
  const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'intel.example' };
  const headers = { origin: 'https://intel.example', ...forwarded };
  const login = post(paths.portalLogin, { username: USERNAME, password: PASSWORD });
  const response = await world.app.inject({ ...login, headers, remoteAddress: '10.0.0.2' });
  assert.deepEqual([response.statusCode, response.json().secure], [200, true]);
  const cookie = cookieOf(response.headers['set-cookie']);
  const from = async (remoteAddress: string) =>
    (await world.app.inject({ ...withCookie(LAST, cookie, headers), remoteAddress })).statusCode;
  assert.deepEqual([await from('10.0.0.2'), await from('10.0.0.3')], [200, 403]);
});

for (const [host, secure] of [
  ['127.0.0.1:8080', true],
  ['[::1]:8080', true],
  ['intel.localhost', true],
  ['intel.example', false],
  ['127.0.0.1.example', false],
  ['192.0.2.7:8080', false],
] as const) {
  test(`without TLS, browsers ${secure ? 'keep' : 'drop'} the cookie of ${host}`, async (t) => {
    const { app, logIn: token } = await withAccounts(t);
    const response = await app.inject({ ...SESSION, headers: { host, authorization: await token() } });
    const { created_ts, expires_ts } = response.json();
    assert.deepEqual([response.json().secure, created_ts, expires_ts], [secure, null, null]);
  });
}

test('a token wins, and needs no origin', async (t) => {
  const { world, app, control, cookie } = await open(t);
  await createAccount(control, { username: 'bob', password: PASSWORD, tier: 'tested' }, NOW);
  const authorization = await world.logIn('bob');
  const both = { authorization, 'sec-fetch-site': 'cross-site' };
  assert.equal((await app.inject(withCookie(SESSION, cookie, both))).json().username, 'bob');
  assert.equal((await app.inject(withCookie(LAST, cookie, both))).statusCode, 200);
  assertError(await app.inject(withCookie(SESSION, cookie, { ...SAME, authorization: 'Bearer x' })), 401);
  assertError(await app.inject(withCookie(SESSION, cookie, { ...SAME, authorization: 'bearer' })), 401);
});

test('a session works with the password of a proxy, which browsers send to the server too', async (t) => {
  const { world, app, control, cookie } = await open(t);
  const headers = { ...SAME, authorization: 'Basic YTpi' };
  for (const request of [SESSION, LAST]) {
    assert.equal((await app.inject(withCookie(request, cookie, headers))).statusCode, 200);
  }
  assertError(await app.inject(withCookie(SESSION, cookie, { ...headers, 'sec-fetch-site': 'cross-site' })), 403);
  await logIn(world);
  await app.inject(withCookie(post(paths.portalSessionsEnd, { others: true }), cookie, headers));
  await app.inject(withCookie(post(paths.portalListKeys, { list: 'urls-online', device: 'dns' }), cookie, headers));
  const entries = await control.auditEntries({ sinceTs: 0, untilTs: NOW * 2, subject: null, action: null, limit: 9 });
  assert.deepEqual(
    entries.map(({ source, action }) => `${source} ${action}`),
    ['page list-key.add', 'page account.sign-out'],
  );
});

test('a cookie that is no session gets 401', async (t) => {
  const { world, cookie } = await open(t);
  const value = cookie.split('=')[1] ?? '';
  for (const wrong of ['', 'x', 'A'.repeat(43), `${value}A`, `${value.slice(0, -1)}`, `"${value}"`]) {
    assert.equal(await statusOf(world, `__Host-urlwarden=${wrong}`), 401, wrong);
  }
  for (const name of ['urlwarden', 'x__Host-urlwarden', '__host-urlwarden']) {
    assert.equal(await statusOf(world, `${name}=${value}`), 401, name);
  }
  assert.equal(await statusOf(world, `${cookie}`), 200);
});

/** What ends a session, and what its cookie gets from then on. */
const ENDS: { why: string; end(world: World, cookie: string): Promise<unknown>; status: number; after: number }[] = [
  {
    why: 'sign-out',
    end: ({ app }, cookie) => app.inject(withCookie(post(paths.portalLogout, {}), cookie)),
    status: 401,
    after: 0,
  },
  { why: 'a new password', end: ({ control }) => changePassword(control, USERNAME, 'n'), status: 401, after: 5 },
  { why: 'revocation', end: ({ control }) => revokeTokens(control, USERNAME), status: 401, after: 5 },
  {
    why: 'disabling',
    end: ({ control }) => setAccount(control, USERNAME, { isEnabled: false }),
    status: 403,
    after: 5,
  },
  { why: 'removal', end: ({ control }) => removeAccount(control, USERNAME, NOW), status: 401, after: 5 },
  {
    why: 'sign-out on another node',
    end: async ({ control, sub }) => control.endSessions(sub, '', 'others'),
    status: 401,
    after: 5,
  },
];

describe('a stolen cookie', () => {
  for (const { why, end, status, after } of ENDS) {
    test(`is of no use after ${why}, ${after === 0 ? 'at once' : 'within five seconds'}`, async (t) => {
      const { world, cookie } = await open(t);
      assert.equal(await statusOf(world, cookie, LAST), 200);
      await end(world, cookie);
      if (after > 0) await world.setNow(NOW + after);
      assert.equal(await statusOf(world, cookie, LAST), status);
      assert.equal(await statusOf(world, cookie), status);
    });
  }

  test('is of no use twelve hours after the last use', async (t) => {
    const { world, cookie } = await open(t);
    await use(world, cookie, NOW + 12 * HOUR - 1);
    await use(world, cookie, NOW + 24 * HOUR - 2);
    await world.setNow(NOW + 36 * HOUR - 2);
    assert.equal(await statusOf(world, cookie), 401);
  });

  test('is of no use after seven days, however often it was used', async (t) => {
    const { world, cookie } = await open(t);
    for (let hour = 10; hour < 168; hour += 10) await use(world, cookie, NOW + hour * HOUR);
    await use(world, cookie, NOW + 168 * HOUR - 1);
    const last = await world.app.inject(withCookie(SESSION, cookie));
    assert.equal(last.json().expires_ts, NOW + 168 * HOUR);
    await world.setNow(NOW + 168 * HOUR);
    assert.equal(await statusOf(world, cookie), 401);
  });

  test('is of no use if the clock was far ahead when it started: it would live too long', async (t) => {
    const { world, control, sub, cookie } = await open(t);
    await world.setNow(NOW - HOUR);
    assert.equal(await statusOf(world, cookie), 200);
    await world.setNow(NOW - HOUR - 1);
    assert.equal(await statusOf(world, cookie), 401);
    assert.equal((await control.sessions(sub)).length, 1, 'it is not deleted');
    const next = await logIn(world);
    const shown = await world.app.inject(withCookie({ url: paths.portalSessions }, next));
    assert.deepEqual(
      shown.json().items.map(({ current }: { current: boolean }) => current),
      [true],
      'nor shown',
    );
  });
});

test('the last use is written every five minutes at most', async (t) => {
  const { world, control, sub, cookie } = await open(t);
  for (const [quietTs, writtenTs, before] of [
    [NOW + 299, NOW + 300, NOW],
    [NOW + 599, NOW + 601, NOW + 300],
  ] as const) {
    await world.setNow(quietTs);
    assert.equal(await statusOf(world, cookie), 200);
    assert.equal((await control.sessions(sub))[0]?.usedTs, before);
    await use(world, cookie, writtenTs);
  }
});

test('an account sees its sessions and ends one or all others, which the audit log has', async (t) => {
  const { world, app, control, cookie } = await open(t);
  await createAccount(control, { username: 'bob', password: PASSWORD, tier: 'tested' }, NOW);
  const bob = await logIn(world, { payload: { username: 'bob', password: PASSWORD } });
  await world.setNow(NOW + 1);
  const second = await logIn(world, { remoteAddress: '192.0.2.9', headers: { 'user-agent': 'Browser/1.0' } });
  await world.setNow(NOW + 2);
  const third = await logIn(world, { headers: { 'user-agent': 'x'.repeat(9_000) } });
  const list = async () => (await app.inject(withCookie({ url: paths.portalSessions }, cookie))).json().items;
  const [newest, middle, own] = await list();
  const { id, ...shown } = middle;
  const times = { created_ts: NOW + 1, used_ts: NOW + 1 };
  assert.deepEqual(shown, { ...times, address: '192.0.2.9', agent: 'Browser/1.0', current: false });
  assert.deepEqual([newest.agent.length, own.current, (await list()).length], [300, true, 3]);

  const end = async (payload: object, by = cookie) =>
    (await app.inject(withCookie(post(paths.portalSessionsEnd, payload), by))).json().ended;
  assert.equal(await end({ id }, bob), 0, 'not a session of this account');
  assert.deepEqual([await end({ id }), await end({ id })], [1, 0]);
  assert.deepEqual([await statusOf(world, second), await statusOf(world, third)], [401, 200]);
  assert.equal(await end({ others: true }), 1);
  assert.deepEqual([await statusOf(world, third), await statusOf(world, cookie)], [401, 200]);
  assert.equal(await statusOf(world, bob), 200);
  for (const payload of [{}, { id: 'x' }, { others: false }, { id, others: true }]) {
    assertError(await app.inject(withCookie(post(paths.portalSessionsEnd, payload), cookie)), 400);
  }
  const entries = await control.auditEntries({ sinceTs: 0, untilTs: NOW * 2, subject: null, action: null, limit: 9 });
  assert.deepEqual(
    entries.map(({ source, actor, origin, action, subject }) => [source, actor, origin, action, subject]),
    Array(2).fill(['page', USERNAME, '127.0.0.1', 'account.sign-out', USERNAME]),
  );
});

test('the longest unused of many sessions ends with a login', async (t) => {
  const { world, control, sub, cookie } = await open(t);
  const bounds = { keepSince: 0, maxPerAccount: 1_000, maxDeleted: 0 };
  const [own] = await control.sessions(sub);
  assert.ok(own);
  for (let i = 1; i < 100; i++) {
    const id = i.toString(16).padStart(64, '0');
    await control.addSession({ ...own, id, usedTs: NOW + i }, bounds);
  }
  assert.equal(await statusOf(world, cookie), 200);
  await world.setNow(NOW + 200);
  await logIn(world);
  assert.equal((await control.sessions(sub)).length, 100);
  assert.equal(await statusOf(world, cookie), 401);
});

describe('a new password', () => {
  const change = (current: string, next: string) => post(paths.portalPassword, { current, new: next });

  test('ends all sessions and tokens but gives this browser a new cookie', async (t) => {
    const { world, app, control, cookie } = await open(t);
    const other = await logIn(world);
    const authorization = await world.logIn();
    const response = await app.inject(withCookie(change(PASSWORD, 'new password'), cookie));
    assert.deepEqual([response.statusCode, response.json().created_ts], [200, NOW]);
    assert.equal(response.headers['cache-control'], 'no-store');
    const renewed = cookieOf(response.headers['set-cookie']);
    assert.equal(await statusOf(world, renewed), 200);
    await world.setNow(NOW + 5);
    assert.deepEqual([await statusOf(world, cookie), await statusOf(world, other)], [401, 401]);
    assertError(await app.inject({ ...SESSION, headers: { authorization } }), 401);
    assert.equal(await statusOf(world, await logIn(world, {}, 'new password')), 200);
    const [entry] = await control.auditEntries({ sinceTs: 0, untilTs: NOW * 2, subject: null, action: null, limit: 9 });
    assert.deepEqual(
      [entry?.action, entry?.subject, entry?.source, entry?.actor, entry?.changes],
      ['account.passwd', USERNAME, 'page', USERNAME, { generation: { old: 1, new: 2 } }],
    );
  });

  test('by a token is in the audit log as a change by API, and so is a sign-out', async (t) => {
    const { world, app, control } = await open(t);
    const headers = { authorization: await world.logIn() };
    assert.equal((await app.inject({ ...post(paths.portalSessionsEnd, { others: true }), headers })).json().ended, 1);
    assert.equal((await app.inject({ ...change(PASSWORD, 'new password'), headers })).statusCode, 200);
    const entries = await control.auditEntries({ sinceTs: 0, untilTs: NOW * 2, subject: null, action: null, limit: 9 });
    assert.deepEqual(entries.map(({ action, source }) => `${action} ${source}`).sort(), [
      'account.passwd api',
      'account.sign-out api',
    ]);
  });

  test('needs the current one; wrong ones count as failed logins', async (t) => {
    const { world, app, cookie } = await open(t);
    for (let i = 0; i < 10; i++) {
      assertError(await app.inject(withCookie(change('wrong', 'new'), cookie)), 403, /current password is wrong/);
    }
    assertError(await app.inject(withCookie(change(PASSWORD, 'new'), cookie)), 429);
    assertError(await app.inject(post(paths.portalLogin, { username: USERNAME, password: PASSWORD })), 429);
    assert.equal(await statusOf(world, cookie), 200);
  });

  test('must be usable', async (t) => {
    const { world, app, cookie } = await open(t);
    for (const next of ['', 'x'.repeat(1_025)]) {
      assertError(await app.inject(withCookie(change(PASSWORD, next), cookie)), 400, /1 to 1024 bytes/);
    }
    assert.equal(await statusOf(world, cookie), 200);
  });

  test('works with a token, and sets no cookie', async (t) => {
    const { app, logIn: token } = await withAccounts(t);
    const headers = { authorization: await token() };
    const response = await app.inject({ ...change(PASSWORD, 'new'), headers });
    assert.deepEqual(
      [response.statusCode, response.headers['set-cookie'], response.json().created_ts],
      [200, undefined, null],
    );
  });
});

test('sign-out deletes the cookie', async (t) => {
  const { app, cookie } = await open(t);
  const response = await app.inject(withCookie(post(paths.portalLogout, {}), cookie));
  assert.deepEqual([response.statusCode, response.json(), response.headers['cache-control']], [200, {}, 'no-store']);
  assert.equal(
    response.headers['set-cookie'],
    '__Host-urlwarden=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0',
  );
});
