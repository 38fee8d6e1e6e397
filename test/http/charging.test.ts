import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InjectOptions } from 'fastify';
import { createAccount } from '../../src/accounts/manage.ts';
import { AppError } from '../../src/core/errors.ts';
import { CALLS_PER_SECOND, STREAMS_PER_ACCOUNT } from '../../src/limits/charge.ts';
import { assertError, BASE, linesOf, NOW, ROUTES, stubStore, until } from './build.ts';
import { authorized, LIMITS, PASSWORD, QUERIES, USERNAME, withAccounts } from './with-accounts.ts';

const counted = async ({ app, logIn }: Awaited<ReturnType<typeof withAccounts>>, requests: InjectOptions[]) => {
  const good = await logIn();
  for (const request of requests) await app.inject(authorized(request, good));
  return (await app.inject(authorized(LIMITS, good))).json().current;
};
const search = (ip: string): InjectOptions => ({ method: 'POST', url: `${BASE}/search`, payload: { ip } });

const CIDR = '/api/intel/v1/byobject/cidr/:dataset/:mode/:type/:ip';
const DOMAIN_VIEWS = [
  '',
  '/overview',
  '/dimensions',
  '/listing',
  '/contexts',
  '/senders',
  '/ns',
  '/a',
  '/hostnames',
  '/malware/urls',
  '/malware/hashes',
  '/explain',
];

const LIST_PATHS = ['lists', 'list-keys', 'list-keys/:id/remove'];

test('each route has its kind of charge', () => {
  const others = ROUTES.filter(({ access }) => access !== 'administrator');
  assert.ok(ROUTES.every(({ access, charge }) => access !== 'administrator' || charge === 'call'));
  const byPath: Record<string, string> = {};
  for (const { endpoint, charge } of others) {
    const known = byPath[endpoint.path] ?? charge;
    byPath[endpoint.path] = known === charge ? charge : `${known}, ${charge}`;
  }
  assert.deepEqual(byPath, {
    '/api/v1/login': 'none',
    '/api/intel/v1/limits': 'call',
    [`${BASE}/id`]: 'query',
    [`${BASE}/last`]: 'query',
    [`${BASE}/history`]: 'query',
    [`${BASE}/search`]: 'query',
    [`${BASE}/bulk`]: 'steps',
    [`${BASE}/:id/statuses`]: 'query',
    [`${BASE}/:id/payloads`]: 'query',
    [CIDR]: 'query',
    [`${CIDR}/:mask`]: 'query',
    ...Object.fromEntries(DOMAIN_VIEWS.map((view) => [`/api/intel/v2/byobject/domain/:domain${view}`, 'query'])),
    ...Object.fromEntries(
      ['tld', 'tags', 'contexts', 'dimensions'].map((name) => [`/api/intel/v2/domains/${name}`, 'call']),
    ),
    '/api/intel/v2/context': 'call',
    ...Object.fromEntries(['login', 'logout'].map((name) => [`/api/portal/v1/${name}`, 'none'])),
    ...Object.fromEntries(
      ['session', 'sessions', 'sessions/end', 'password', 'overview', 'usage', ...LIST_PATHS].map((name) => [
        `/api/portal/v1/${name}`,
        'call',
      ]),
    ),
    ...Object.fromEntries(
      ['url', 'address/:ip', 'network/:ip/:mask', 'domain/:name', 'search'].map((name) => [
        `/api/portal/v1/${name}`,
        'query',
      ]),
    ),
    '/api/changes/v1': 'query',
    '/api/portal/v1/list-keys': 'call, own', // to see them, to make one
    '/api/portal/v1/lists/:name/explain': 'own',
    '/api/lists/v1/:file': 'own',
    '/api/lists/v1/:key/:file': 'own',
    '/healthz': 'none',
    '/readyz': 'none',
    '/openapi.json': 'none',
  });
});

for (const { what, requests, count } of [
  { what: 'each query counts once', requests: QUERIES, count: QUERIES.length },
  { what: 'HEAD counts like GET', requests: [{ method: 'HEAD' as const, url: `${BASE}/1/statuses` }], count: 1 },
  {
    what: 'a query that finds nothing counts',
    requests: [
      { method: 'POST' as const, url: `${BASE}/last`, payload: { url: 'http://nowhere.example/' } },
      { method: 'GET' as const, url: `${BASE}/999/statuses` },
      search('192.0.2.77'),
    ],
    count: 3,
  },
  {
    what: 'the search of a subnet counts by its size',
    requests: [search('192.0.2.0/24'), search('2001:db8::/32'), search('::ffff:0:0/96')],
    count: 75,
  },
  {
    what: 'a bad request does not count',
    requests: [
      { method: 'POST' as const, url: `${BASE}/last`, payload: { url: 'nowhere' } },
      { method: 'POST' as const, url: `${BASE}/last`, payload: 'x'.repeat(70_000) },
      { method: 'GET' as const, url: `${BASE}/1/statuses?limit=x` },
      { method: 'GET' as const, url: `${BASE}/x/statuses` },
      { method: 'PUT' as const, url: `${BASE}/last` },
      search('192.0.2.0/33'),
    ],
    count: 0,
  },
  {
    what: 'limits, login and health do not count',
    requests: [LIMITS, LIMITS, { method: 'GET' as const, url: '/healthz' }],
    count: 0,
  },
]) {
  test(`charging: ${what}`, async (t) => {
    assert.deepEqual(await counted(await withAccounts(t), requests), {
      qpm: count,
      qpd: count,
      rl_qph: count,
      rl_qpm: count,
      rl_qps: count,
    });
  });
}

test('a query that fails on our side is refunded to month and day, not to the rates', async (t) => {
  const unavailable = async () => {
    throw new AppError('unavailable', 'away');
  };
  const store = stubStore({
    urlLast: unavailable,
    urlId: () => Promise.reject(new Error('a defect')),
    urlHistory: () => new Promise(() => {}),
    search: () => ({ [Symbol.asyncIterator]: () => ({ next: unavailable }) }),
  });
  const world = await withAccounts(t, {}, { services: { store }, options: { queryBudgetMs: 20 } });
  const current = await counted(world, [...QUERIES.slice(0, 3), search('192.0.2.0/24')]);
  assert.deepEqual([current.qpm, current.qpd, current.rl_qps], [0, 0, 3 + 9]);
});

test('the soft limit refuses nothing, and passing it is logged once a month', async (t) => {
  const log: string[] = [];
  const logger = { level: 'warn', stream: { write: (line: string) => void log.push(line) } };
  const world = await withAccounts(t, { qms: 2 }, { options: { logger } });
  const good = await world.logIn();
  const warned: number[] = [];
  for (let i = 0; i < 4; i++) {
    assert.equal((await world.app.inject(authorized(QUERIES[0] as InjectOptions, good))).statusCode, 200);
    warned.push(log.length);
  }
  assert.deepEqual(warned, [0, 0, 1, 1]);
  const { level, sub, qms, msg } = JSON.parse(String(log[0]));
  assert.deepEqual([level, sub, qms, msg], [40, world.sub, 2, 'an account has passed its soft monthly limit']);
});

test('limits returns the limits and counts of the account', async (t) => {
  const { app, logIn, sub } = await withAccounts(t, {
    ads: ['URL', 'IP'],
    qms: 7,
    qmh: 9,
    rlQph: 6,
    rlQpm: 5,
    rlQps: 4,
    trs: 'plus',
  });
  const good = await logIn();
  await app.inject(authorized(QUERIES[0] as InjectOptions, good));
  const response = await app.inject(authorized(LIMITS, good));
  assert.deepEqual(response.json(), {
    status: 200,
    code: 200,
    account: { sub, usr: USERNAME },
    limits: { ads: 'URL,IP', trs: 'plus', qms: 7, qmh: 9, rl_qph: 6, rl_qpm: 5, rl_qps: 4 },
    current: { qpm: 1, qpd: 1, rl_qph: 1, rl_qpm: 1, rl_qps: 1 },
  });
  assert.match(sub, /^[1-9]\d{7}$/);
});

test('limits has its own limit of calls per second', async (t) => {
  const { app, logIn, setNow } = await withAccounts(t, { qmh: 1 });
  const good = await logIn();
  for (let i = 0; i < CALLS_PER_SECOND; i++) assert.equal((await app.inject(authorized(LIMITS, good))).statusCode, 200);
  const refused = await app.inject(authorized(LIMITS, good));
  assertError(refused, 429, /calls/);
  assert.equal(refused.headers['retry-after'], '1');
  assert.equal(refused.headers['ratelimit-policy'], '"calls";q=100;w=1');
  assert.equal((await app.inject(authorized(QUERIES[0] as InjectOptions, good))).statusCode, 200);
  await setNow(NOW + 1);
  assert.equal((await app.inject(authorized(LIMITS, good))).statusCode, 200);
});

test('a month ends at midnight UTC, and then queries are admitted again', async (t) => {
  const { app, logIn, setNow } = await withAccounts(t, { qmh: 1 });
  const request = QUERIES[0] as InjectOptions;
  await setNow(Date.parse('2026-01-31T23:59:58Z') / 1000);
  const good = await logIn();
  assert.equal((await app.inject(authorized(request, good))).statusCode, 200);
  await setNow(Date.parse('2026-01-31T23:59:59Z') / 1000);
  const refused = await app.inject(authorized(request, good));
  assertError(refused, 429, /qmh/);
  assert.equal(refused.headers['retry-after'], '1');
  assert.match(String(refused.headers['ratelimit-policy']), /"qmh";q=1;w=2678400$/);
  await setNow(Date.parse('2026-02-01T00:00:00Z') / 1000);
  const admitted = await app.inject(authorized(request, good));
  assert.equal(admitted.statusCode, 200);
  assert.match(String(admitted.headers['ratelimit-policy']), /"qmh";q=1;w=2419200$/, 'February is shorter');
  assert.equal((await app.inject(authorized(LIMITS, good))).json().current.qpm, 1);
});

test('of 2,000 concurrent queries with 1,000 left, exactly 1,000 are admitted', async (t) => {
  const { app, logIn } = await withAccounts(t, { qmh: 1_000 });
  const good = await logIn();
  const request = authorized(QUERIES[1] as InjectOptions, good);
  const responses = await Promise.all(Array.from({ length: 2_000 }, () => app.inject(request)));
  const byStatus = Map.groupBy(responses, ({ statusCode }) => statusCode);
  assert.deepEqual([byStatus.get(200)?.length, byStatus.get(429)?.length], [1_000, 1_000]);
  assert.equal((await app.inject(authorized(LIMITS, good))).json().current.qpm, 1_000);
});

test('a stream beyond the limit of open streams gets 429 after validation, and is not charged', async (t) => {
  const gate = Promise.withResolvers<void>();
  let open = 0;
  async function* held<Page>(page: Page) {
    open++;
    await gate.promise;
    yield page;
  }
  const store = stubStore({
    search: () => held(linesOf([{ ts: NOW, id: 1, url: 'http://192.0.2.1/x' }])),
    statuses: () => held([{ ts: NOW, kind: 'added' as const, removal: '', reporter: '' }]),
  });
  const { app, logIn, control, refresh } = await withAccounts(t, {}, { services: { store } });
  const good = await logIn();
  await createAccount(control, { username: 'bob', password: PASSWORD, tier: 'tested' }, NOW);
  await refresh();
  const other = await logIn('bob');
  const [, , , bySearch, byStatuses] = QUERIES as [unknown, unknown, unknown, InjectOptions, InjectOptions];
  const streams = Array.from({ length: STREAMS_PER_ACCOUNT }, (_, i) =>
    app.inject(authorized(i % 2 === 0 ? bySearch : byStatuses, good)),
  );
  await until(() => open === STREAMS_PER_ACCOUNT);
  for (const request of [bySearch, byStatuses]) {
    const refused = await app.inject(authorized(request, good));
    assertError(refused, 429, /streams/);
    assert.ok(refused.headers['retry-after']);
    assert.ok(refused.headers['ratelimit-policy']);
  }
  assertError(await app.inject(authorized({ ...bySearch, payload: { asn: 'x' } }, good)), 400, /asn/);
  assertError(await app.inject(authorized({ ...byStatuses, url: `${BASE}/1/statuses?limit=x` }, good)), 400, /limit/);
  assert.equal((await app.inject(authorized(LIMITS, good))).json().current.qpm, STREAMS_PER_ACCOUNT);
  const ofOther = app.inject(authorized(bySearch, other));
  await until(() => open === STREAMS_PER_ACCOUNT + 1);
  gate.resolve();
  assert.equal((await ofOther).statusCode, 200);
  await Promise.all(streams);
  assert.equal((await app.inject(authorized(bySearch, good))).statusCode, 200);
});
