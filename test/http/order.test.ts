import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AppError } from '../../src/core/errors.ts';
import { EMPTY_LISTS } from './admit-all.ts';
import { assertError, BASE, build, exampleOf, ROUTES } from './build.ts';

const refuse = () => {
  throw new AppError('unauthorized', 'No token');
};
const OVERSIZE = ' '.repeat(70_000);

describe('the order of checks', () => {
  test('an unknown path gets 404 before the token is checked', async (t) => {
    const { app } = await build(t, { services: { authenticate: refuse } });
    for (const url of ['/nope', `${BASE}/0/statuses`, `${BASE}/%zz/statuses`]) {
      assertError(await app.inject({ method: 'POST', url, payload: OVERSIZE }), 404);
    }
  });

  test('a wrong method gets 405 before the token is checked', async (t) => {
    const { app } = await build(t, { services: { authenticate: refuse } });
    assertError(await app.inject({ method: 'PUT', url: `${BASE}/last`, payload: OVERSIZE }), 405);
    assertError(await app.inject({ method: 'POST', url: `${BASE}/1/statuses?limit=x`, payload: '{' }), 405);
    assert.equal((await app.inject({ method: 'OPTIONS', url: `${BASE}/last` })).statusCode, 204);
  });

  test('the token is checked before size, body and parameters', async (t) => {
    const { app } = await build(t, { services: { authenticate: refuse } });
    for (const payload of [OVERSIZE, '{', '', '{"url":1}']) {
      const response = await app.inject({ method: 'POST', url: `${BASE}/search?limit=x`, payload });
      assertError(response, 401);
      assert.equal(response.headers['www-authenticate'], 'Bearer');
    }
    assertError(await app.inject(`${BASE}/1/statuses?limit=x`), 401);
  });

  test('a disabled account gets 403 before the size is checked, also when authentication is asynchronous', async (t) => {
    const authenticate = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      throw new AppError('forbidden', 'The account is disabled');
    };
    const { app } = await build(t, { services: { authenticate } });
    assertError(await app.inject({ method: 'POST', url: `${BASE}/last`, payload: OVERSIZE }), 403, /disabled/);
  });

  test('the size is checked before the content, the content before the query runs', async (t) => {
    const { app } = await build(t);
    assertError(await app.inject({ method: 'POST', url: `${BASE}/last`, payload: `{${OVERSIZE}` }), 413);
    const manyBytes = { 'content-length': String(8 * 2 ** 20 + 1) };
    assertError(await app.inject({ method: 'POST', url: `${BASE}/bulk?view=x`, headers: manyBytes }), 413);
    assertError(await app.inject({ method: 'POST', url: `${BASE}/last`, payload: { url: 'nowhere' } }), 400);
    assertError(await app.inject(`${BASE}/1/statuses?limit=x`), 400);
  });
});

describe('the list of routes', () => {
  const OPEN = ['/api/v1/login', '/api/portal/v1/login', '/healthz', '/readyz', '/openapi.json'];

  test('has exactly these open routes', () => {
    const open = ROUTES.filter(({ access }) => access === 'open').map(({ endpoint }) => endpoint.path);
    assert.deepEqual(open.sort(), OPEN.toSorted());
  });

  test('refuses accounts that are no administrator', async (t) => {
    const { app } = await build(t);
    for (const { endpoint } of ROUTES.filter(({ access }) => access === 'administrator')) {
      const response = await app.inject({ method: endpoint.method, url: exampleOf(endpoint.path) });
      assertError(response, 403, /administrator/);
    }
  });

  test('matches what the server does', async (t) => {
    const lists = () => ({ ...EMPTY_LISTS, callerOfKey: async () => refuse() });
    const { app } = await build(t, { services: { authenticate: refuse, lists } });
    for (const { access, endpoint } of ROUTES) {
      const url = exampleOf(endpoint.path);
      const response = await app.inject({ method: endpoint.method, url });
      if (access !== 'open') assertError(response, 401);
      else assert.equal(response.statusCode, endpoint.method === 'GET' ? 200 : 400);
      if (endpoint.method === 'GET') {
        assert.equal((await app.inject({ method: 'HEAD', url })).statusCode, access === 'open' ? 200 : 401);
      }
    }
  });
});
