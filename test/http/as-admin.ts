import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { LightMyRequestResponse } from 'fastify';
import { createAccount, setAccount } from '../../src/accounts/manage.ts';
import { NOW, type Overrides, type Services } from './build.ts';
import { authorized, PASSWORD, USERNAME, withAccounts } from './with-accounts.ts';

/** Where the endpoints of administrators are. */
export const ADMIN = '/api/admin/v1';
const CUSTOMER = 'customer@example.com';

export type Administration = Awaited<ReturnType<typeof asAdmin>>;

/** A server whose account ada@example.com is an administrator, who sends the requests. Paths are below ADMIN. */
export async function asAdmin(
  t: TestContext,
  overrides: Overrides = {},
  dataAdmin: Partial<Services['dataAdmin']> = {},
) {
  const world = await withAccounts(t, {}, overrides, dataAdmin);
  const { app, control } = world;
  await setAccount(control, USERNAME, { isAdmin: true });
  await world.refresh();
  const authorization = await world.logIn();
  let customer: string | undefined;
  const get = (path: string) => app.inject(authorized({ method: 'GET', url: ADMIN + path }, authorization));
  const post = (path: string, payload: object = {}) =>
    app.inject(authorized({ method: 'POST', url: ADMIN + path, payload }, authorization));
  const bodyOf = (response: LightMyRequestResponse) => {
    assert.equal(response.statusCode, 200, response.body);
    assert.equal(response.headers['cache-control'], 'no-store');
    return response.json();
  };
  /** The newest entries of the audit log, the oldest of them first. */
  const audit = async (limit: number) => {
    const filter = { sinceTs: 0, untilTs: Number.MAX_SAFE_INTEGER, subject: null, action: null, limit };
    return (await control.auditEntries(filter)).reverse();
  };
  return {
    ...world,
    /** The value of the Authorization header. */
    authorization,
    get,
    post,
    /** The body of a response that must be 200. */
    read: async (path: string) => bodyOf(await get(path)),
    change: async (path: string, payload?: object) => bodyOf(await post(path, payload)),
    /** As another account, which is no administrator and is added by the first call. */
    async asCustomer(method: 'GET' | 'POST', path: string) {
      if (customer === undefined) {
        await createAccount(control, { username: CUSTOMER, password: PASSWORD, tier: 'tested' }, NOW);
        await world.refresh();
        customer = await world.logIn(CUSTOMER);
      }
      return app.inject(authorized({ method, url: ADMIN + path, ...(method === 'POST' && { payload: {} }) }, customer));
    },
    audit,
    /** Who changed what, in short. */
    audited: async () =>
      (await audit(100)).map(({ source, actor, action, subject }) => `${source} ${actor} ${action} ${subject}`),
  };
}

export const BY_ADMIN = `api ${USERNAME}`;
