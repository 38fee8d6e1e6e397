import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { LightMyRequestResponse } from 'fastify';
import { setAccountAdmin } from '../../src/accounts/manage.ts';
import type { Overrides } from './build.ts';
import { authorized, USERNAME, withAccounts } from './with-accounts.ts';

/** A server whose account ada@example.com is an administrator, who sends the requests. */
export async function asAdmin(t: TestContext, overrides: Overrides = {}) {
  const world = await withAccounts(t, {}, overrides);
  await setAccountAdmin(world.control, USERNAME, true);
  await world.refresh();
  const token = await world.logIn();
  const get = (path: string) => world.app.inject(authorized({ method: 'GET', url: `/api/admin/v1${path}` }, token));
  const post = (path: string, payload: object = {}) =>
    world.app.inject(authorized({ method: 'POST', url: `/api/admin/v1${path}`, payload }, token));
  const bodyOf = (answer: LightMyRequestResponse) => {
    assert.equal(answer.statusCode, 200, answer.body);
    assert.equal(answer.headers['cache-control'], 'no-store');
    return answer.json();
  };
  return {
    ...world,
    get,
    post,
    /** The body of an answer that must be 200. */
    read: async (path: string) => bodyOf(await get(path)),
    change: async (path: string, payload?: object) => bodyOf(await post(path, payload)),
    /** The newest entries of the audit log, the oldest of them first. */
    async audit(limit: number) {
      const filter = { sinceTs: 0, untilTs: Number.MAX_SAFE_INTEGER, subject: null, action: null, limit };
      return (await world.control.auditEntries(filter)).reverse();
    },
  };
}
