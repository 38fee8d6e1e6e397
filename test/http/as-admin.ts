import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { LightMyRequestResponse } from 'fastify';
import { setAccountAdmin } from '../../src/accounts/manage.ts';
import type { AuditEntry } from '../../src/audit/store.ts';
import type { Overrides } from './build.ts';
import { authorized, USERNAME, type World, withAccounts } from './with-accounts.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests compare bodies of many shapes
type Body = any;

export type AdminWorld = World & {
  get(path: string): Promise<LightMyRequestResponse>;
  post(path: string, payload?: object): Promise<LightMyRequestResponse>;
  /** The body of an answer that must be 200. */
  read(path: string): Promise<Body>;
  change(path: string, payload?: object): Promise<Body>;
  /** The newest entries of the audit log, the oldest of them first. */
  audit(limit: number): Promise<AuditEntry[]>;
};

/** A server whose account ada@example.com is an administrator, who sends the requests. */
export async function asAdmin(t: TestContext, overrides: Overrides = {}): Promise<AdminWorld> {
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
    read: async (path) => bodyOf(await get(path)),
    change: async (path, payload) => bodyOf(await post(path, payload)),
    async audit(limit) {
      const filter = { sinceTs: 0, untilTs: Number.MAX_SAFE_INTEGER, subject: null, action: null, limit };
      return (await world.control.auditEntries(filter)).reverse();
    },
  };
}
