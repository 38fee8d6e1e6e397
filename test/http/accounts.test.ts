import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test } from 'node:test';
import type { InjectOptions } from 'fastify';
import { changePassword, removeAccount, revokeTokens, setAccount } from '../../src/accounts/manage.ts';
import { rotateKey } from '../../src/accounts/signing-keys.ts';
import { assertError, NOW, ROUTES } from './build.ts';
import {
  authorized,
  CALLS,
  CATALOGUES,
  LIMITS,
  PAGES,
  PASSWORD,
  QUERIES,
  tier,
  USERNAME,
  type World,
  withAccounts,
} from './with-accounts.ts';

/** The requests that need no dataset. */
const FREE = [...CALLS, ...PAGES];
const PROTECTED = [...QUERIES, ...CATALOGUES, ...FREE];
const INVALID = /^Bearer error="invalid_token", error_description="[^"]+"$/;

/**
 * The first cannot be repeated, because it revokes the token (`sessions.test.ts`), nor can the next two
 * (`admin-device-lists.test.ts`). The last needs a key instead of a token (`lists.test.ts`).
 */
const ELSEWHERE = ['portalPassword', 'portalListKeyAdd', 'portalListKeyRemove', 'listByKey'];

/** Those for administrators are in `admin-access.test.ts`. */
test('the requests of these tests reach every route that needs a token', () => {
  const needToken = ROUTES.filter(({ access }) => access !== 'open' && access !== 'administrator')
    .filter(({ endpoint }) => !ELSEWHERE.includes(endpoint.operationId))
    .map(({ endpoint }) => endpoint.path);
  const pathOf = (url: string) =>
    url
      .replace('/1/', '/:id/')
      .replace('ALL/listed/live/192.0.2.1', ':dataset/:mode/:type/:ip')
      .replace(':ip/32', ':ip/:mask')
      .replace(/address\/192\.0\.2\.1$/, 'address/:ip')
      .replace('network/192.0.2.1/32', 'network/:ip/:mask')
      .replace('urls-online.txt', ':file')
      .replace('/v1/domain/site.example', '/v1/domain/:name')
      .replace('/lists/urls-online/explain', '/lists/:name/explain')
      .replace('site.example', ':domain');
  assert.deepEqual(PROTECTED.map(({ url }) => pathOf(String(url))).sort(), needToken.sort());
});

/** Lists for devices also accept the password of Basic. */
const ANY_SCHEME = /^Bearer(?:, Basic realm="lists")?$/;

/** Faults that make a valid request fail, and the expected response. */
const REFUSALS: {
  why: string;
  authorization?(good: string, world: World): string | undefined;
  arrange?(world: World): Promise<void>;
  status: number;
  challenge?: RegExp;
  /** An account without the dataset may still read its limits. */
  queriesOnly?: true;
}[] = [
  { why: 'no header', authorization: () => undefined, status: 401, challenge: ANY_SCHEME },
  { why: 'another scheme', authorization: () => 'Basic YTpi', status: 401, challenge: ANY_SCHEME },
  { why: 'no token', authorization: () => 'Bearer', status: 401, challenge: INVALID },
  { why: 'garbage', authorization: () => 'Bearer a.b.c', status: 401, challenge: INVALID },
  { why: 'two tokens', authorization: (good) => `${good} ${good}`, status: 401, challenge: INVALID },
  { why: 'another algorithm', authorization: (good) => unsigned(good), status: 401, challenge: INVALID },
  { why: 'another key', authorization: (good) => resigned(good), status: 401, challenge: INVALID },
  { why: 'expired', arrange: (world) => world.setNow(NOW + 86_400), status: 401, challenge: INVALID },
  { why: 'revoked', arrange: ({ control }) => revokeTokens(control, USERNAME), status: 401, challenge: INVALID },
  {
    why: 'password changed',
    arrange: ({ control }) => changePassword(control, USERNAME, 'new'),
    status: 401,
    challenge: INVALID,
  },
  {
    why: 'account removed',
    arrange: ({ control }) => removeAccount(control, USERNAME, 1),
    status: 401,
    challenge: INVALID,
  },
  {
    why: 'signing key replaced',
    arrange: async ({ control }) => void (await rotateKey(control, NOW, true)),
    status: 401,
    challenge: INVALID,
  },
  {
    why: 'account disabled',
    arrange: ({ control }) => setAccount(control, USERNAME, { isEnabled: false }),
    status: 403,
  },
  {
    why: 'dataset missing',
    arrange: ({ control }) => control.putTier(tier({ ads: ['IP'] })),
    status: 403,
    queriesOnly: true,
  },
];

describe('every route that needs a token', () => {
  for (const { why, authorization = (good: string) => good, arrange, status, challenge, queriesOnly } of REFUSALS) {
    test(`refuses: ${why}`, async (t) => {
      const world = await withAccounts(t);
      const good = await world.logIn();
      for (const request of PROTECTED)
        assert.equal((await world.app.inject(authorized(request, good))).statusCode, 200);
      await arrange?.(world);
      await world.refresh();
      const sent = authorization(good, world);
      const refused = async (request: InjectOptions) => {
        const response = await world.app.inject(sent === undefined ? request : authorized(request, sent));
        if (queriesOnly && FREE.includes(request)) assert.equal(response.statusCode, 200);
        else assertError(response, status);
        if (challenge) assert.match(String(response.headers['www-authenticate']), challenge);
      };
      // Together: one after the other, each would wait for another comparison with the store.
      await Promise.all(PROTECTED.map(refused));
      assert.equal((await world.counters.read(world.sub)).counts.month, QUERIES.length, 'refusals are not counted');
    });
  }

  test('accepts the scheme in any letter case', async (t) => {
    const { app, logIn } = await withAccounts(t);
    const good = await logIn();
    for (const request of PROTECTED) {
      assert.equal((await app.inject(authorized(request, good.replace('Bearer', 'bEARER  ')))).statusCode, 200);
    }
  });

  test('accepts an old token after a key rotation without --now, and after the account is enabled again', async (t) => {
    const world = await withAccounts(t);
    const good = await world.logIn();
    await rotateKey(world.control, NOW, false);
    await setAccount(world.control, USERNAME, { isEnabled: false });
    await setAccount(world.control, USERNAME, { isEnabled: true });
    await world.refresh();
    for (const request of PROTECTED) assert.equal((await world.app.inject(authorized(request, good))).statusCode, 200);
  });
});

test('no cache may keep the response to a login', async (t) => {
  const { app } = await withAccounts(t);
  const payload = { username: USERNAME, password: PASSWORD, realm: 'intel' };
  const { statusCode, headers } = await app.inject({ method: 'POST', url: '/api/v1/login', payload });
  assert.deepEqual([statusCode, headers['cache-control']], [200, 'no-store']);
});

/** Each limit alone, and the expected headers. */
const LIMITED = [
  { limits: { rlQps: 3 }, name: 'rl_qps', retryAfter: 1 },
  { limits: { rlQpm: 3 }, name: 'rl_qpm', retryAfter: 60 },
  { limits: { rlQph: 3 }, name: 'rl_qph', retryAfter: 3_600 },
  { limits: { qmh: 3 }, name: 'qmh', retryAfter: 31 * 86_400 },
];

describe('every route that counts queries', () => {
  for (const { limits, name, retryAfter } of LIMITED) {
    test(`refuses when ${name} is reached, and limits still answers`, async (t) => {
      const { app, logIn } = await withAccounts(t, limits);
      const good = await logIn();
      const [first] = QUERIES as [InjectOptions];
      for (const left of [2, 1, 0]) {
        const { headers, statusCode } = await app.inject(authorized(first, good));
        assert.equal(statusCode, 200);
        assert.match(String(headers.ratelimit), new RegExp(`^"${name}";r=${left};t=\\d+$`));
      }
      for (const request of QUERIES) {
        const response = await app.inject(authorized(request, good));
        assertError(response, 429, new RegExp(`\\b${name}\\b`));
        assert.equal(response.headers['retry-after'], String(retryAfter));
        assert.equal(response.headers.ratelimit, `"${name}";r=0;t=${retryAfter}`);
        assert.match(String(response.headers['ratelimit-policy']), new RegExp(`"${name}";q=3;w=${retryAfter}`));
      }
      assert.equal((await app.inject(authorized(LIMITS, good))).json().current.qpm, 3);
    });
  }

  test('lists all policies in every charged response', async (t) => {
    const { app, logIn } = await withAccounts(t, { rlQps: 5, rlQpm: 50, rlQph: 500, qmh: 5_000 });
    const good = await logIn();
    for (const request of QUERIES.slice(0, 5)) {
      const { headers } = await app.inject(authorized(request, good));
      assert.equal(
        headers['ratelimit-policy'],
        '"rl_qps";q=5;w=1, "rl_qpm";q=50;w=60, "rl_qph";q=500;w=3600, "qmh";q=5000;w=2678400',
      );
    }
  });
});

function unsigned(authorization: string): string {
  const [, claims] = authorization.split('.');
  return `Bearer ${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${claims}.`;
}

function resigned(authorization: string): string {
  const [header, claims] = authorization.replace('Bearer ', '').split('.');
  const signature = createHmac('sha256', PASSWORD).update(`${header}.${claims}`).digest('base64url');
  return `Bearer ${header}.${claims}.${signature}`;
}
