import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setAccountAdmin } from '../../src/accounts/manage.ts';
import { assertError, exampleOf, ROUTES } from './build.ts';
import { authorized, USERNAME, withAccounts } from './with-accounts.ts';

const requests = ROUTES.filter(({ access }) => access === 'administrator').map(({ endpoint: { method, path } }) => ({
  ...{ method, url: exampleOf(path) },
  ...(method === 'POST' && { payload: {} }),
}));

test('every path of administrators is in the route table as such', () => {
  assert.ok(requests.length >= 14);
  for (const { access, endpoint } of ROUTES) {
    assert.equal(endpoint.path.startsWith('/api/admin/'), access === 'administrator', endpoint.path);
  }
});

test('they answer 401 without a token, and 403 to an account without the role', async (t) => {
  const { app, control, logIn, refresh } = await withAccounts(t);
  const token = await logIn();
  for (const request of requests) {
    assertError(await app.inject(request), 401);
    assertError(await app.inject(authorized(request, token)), 403, /administrator/);
  }
  assert.deepEqual(await control.auditEntries(EVERYTHING), [], 'nothing was changed');

  await setAccountAdmin(control, USERNAME, true);
  await refresh();
  const list = await app.inject(authorized({ url: '/api/admin/v1/accounts' }, token));
  assert.deepEqual([list.statusCode, list.headers['cache-control']], [200, 'no-store']);
});

const EVERYTHING = { sinceTs: 0, untilTs: Number.MAX_SAFE_INTEGER, subject: null, action: null, limit: 10 };
