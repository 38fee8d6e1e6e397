import type { TestContext } from 'node:test';
import type { LightMyRequestResponse } from 'fastify';
import { createAccount } from '../../src/accounts/manage.ts';
import { NOW, type Overrides, type Services } from './build.ts';
import { PASSWORD, USERNAME, type World, withAccounts } from './with-accounts.ts';

export const ADMIN = '/api/admin/v1';
const ADMINISTRATOR = 'root@example.com';

export type Administration = World & {
  /** The value of the Authorization header of the administrator. */
  authorization: string;
  get(path: string): Promise<LightMyRequestResponse>;
  post(path: string, payload: object): Promise<LightMyRequestResponse>;
  /** As an account that is no administrator. */
  asCustomer(method: 'GET' | 'POST', path: string): Promise<LightMyRequestResponse>;
  /** The actions and subjects in the audit log, the oldest first. */
  audited(): Promise<string[]>;
};

/** A server with an administrator and a customer. Paths are below the endpoints of administrators. */
export async function asAdministrator(
  t: TestContext,
  overrides: Overrides = {},
  dataAdmin: Partial<Services['dataAdmin']> = {},
): Promise<Administration> {
  const world = await withAccounts(t, {}, overrides, dataAdmin);
  const { app, control } = world;
  const account = { username: ADMINISTRATOR, password: PASSWORD, tier: 'tested', isAdmin: true };
  await createAccount(control, account, NOW);
  await world.refresh();
  const [administrator, customer] = [await world.logIn(ADMINISTRATOR), await world.logIn(USERNAME)];
  return {
    ...world,
    authorization: administrator,
    get: (path) => app.inject({ url: ADMIN + path, headers: { authorization: administrator } }),
    post: (path, payload) =>
      app.inject({ method: 'POST', url: ADMIN + path, payload, headers: { authorization: administrator } }),
    asCustomer: (method, path) =>
      app.inject({
        ...{ method, url: ADMIN + path, headers: { authorization: customer } },
        ...(method === 'POST' && { payload: {} }),
      }),
    async audited() {
      const all = { sinceTs: 0, untilTs: Number.MAX_SAFE_INTEGER, subject: null, action: null, limit: 100 };
      const entries = await control.auditEntries(all);
      return entries.reverse().map(({ source, actor, action, subject }) => `${source} ${actor} ${action} ${subject}`);
    },
  };
}

export const BY_ADMINISTRATOR = `api ${ADMINISTRATOR}`;
