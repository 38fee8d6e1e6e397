import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setAccount } from '../../src/accounts/manage.ts';
import { asAdmin } from './as-admin.ts';
import { assertError, exampleOf, ROUTES } from './build.ts';
import { authorized, USERNAME, withAccounts } from './with-accounts.ts';

const requests = ROUTES.filter(({ access }) => access === 'administrator').map(({ endpoint: { method, path } }) => ({
  method,
  url: exampleOf(path),
  ...(method === 'POST' && { payload: {} }),
}));

test('every path of administrators is in the route table as such', () => {
  assert.ok(requests.length >= 14);
  for (const { access, endpoint } of ROUTES) {
    assert.equal(endpoint.path.startsWith('/api/admin/'), access === 'administrator', endpoint.path);
  }
});

test('they respond with 401 without a token, and 403 to an account without the role', async (t) => {
  const { app, control, logIn, refresh } = await withAccounts(t);
  const token = await logIn();
  for (const request of requests) {
    assertError(await app.inject(request), 401);
    assertError(await app.inject(authorized(request, token)), 403, /administrator/);
  }
  assert.deepEqual(await control.auditEntries(EVERYTHING), [], 'nothing was changed');

  await setAccount(control, USERNAME, { isAdmin: true });
  await refresh();
  const list = await app.inject(authorized({ url: '/api/admin/v1/accounts' }, token));
  assert.deepEqual([list.statusCode, list.headers['cache-control']], [200, 'no-store']);
});

test('a zero character in a path or in a parameter is refused: no database could store it', async (t) => {
  const { get, post } = await asAdmin(t);
  const paths = ['/feeds/%00', '/feeds/a%00/run', '/feeds/a%00/remove', '/tiers/%00/remove', '/accounts/%00/remove'];
  for (const path of paths) assertError(await post(path, path === '/feeds/%00' ? { paused: true } : {}), 400, ZERO);
  assertError(await post('/lists/%00', { description: '' }), 400, ZERO);
  assertError(await post('/lists/%00/remove'), 400, ZERO);
  assertError(await get('/accounts/%00/usage'), 400, ZERO);
  for (const query of ['imports?feed=a%00', 'list-keys?list=%00', 'audit?subject=%00', 'usage?month=%00']) {
    assertError(await get(`/${query}`), 400, ZERO);
  }
  assertError(await post('/imports?format=url-list&source=a%00'), 400, ZERO);
});

const ZERO = /^"\w+" must not contain a zero character$/;

const EVERYTHING = { sinceTs: 0, untilTs: Number.MAX_SAFE_INTEGER, subject: null, action: null, limit: 10 };
