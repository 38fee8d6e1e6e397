import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type Authenticator, openAuthenticator } from '../../src/accounts/authenticator.ts';
import type { Account } from '../../src/accounts/store.ts';
import type { Control } from '../../src/app/stores.ts';
import type { AppError } from '../../src/core/errors.ts';
import { postgresControl } from '../postgres-control.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';
import { addAccount, addKey, ISSUER } from './world.ts';

// Two nodes with their own connections and snapshots, with the real clock and the poll interval of a server.

type Change = { why: string; make: (control: Control, account: Account) => Promise<unknown>; answer: string };

const CHANGES: Change[] = [
  {
    why: 'revocation',
    answer: 'unauthorized',
    make: (control, { sub }) => control.changeAccount(sub, { raisesGeneration: true }),
  },
  {
    why: 'disabling',
    answer: 'forbidden',
    make: (control, { sub }) => control.changeAccount(sub, { isEnabled: false }),
  },
  { why: 'removal', answer: 'unauthorized', make: (control, { sub }) => control.removeAccount(sub, 1) },
  {
    why: 'immediate key rotation',
    answer: 'unauthorized',
    make: (control) => addKey(control, 'second', Number.MAX_SAFE_INTEGER),
  },
  {
    why: 'a change of tier',
    answer: 'enterprise',
    make: (control, { sub }) => control.changeAccount(sub, { tier: 'enterprise' }),
  },
];

for (const { why, make, answer } of CHANGES) {
  test(`${why} on one node takes effect on another within five seconds`, async (t) => {
    const { here, there, account, bearer } = await openNodes(t);
    assert.equal(await responseOf(there.authenticator, bearer), account.tier);
    await make(here.control, account);
    const startedMs = performance.now();
    while ((await responseOf(there.authenticator, bearer)) !== answer) {
      assert.ok(performance.now() - startedMs < 5_000, 'the change did not take effect');
      await wait(20);
    }
  });
}

test('a token of one node is immediately valid on another, also with a key that it has not read', async (t) => {
  const { here, there, account } = await openNodes(t);
  await addKey(here.control, 'second');
  await there.authenticator.refresh();
  await addKey(here.control, 'third');
  assert.equal(await responseOf(there.authenticator, await bearerOf(here.authenticator, account)), account.tier);
});

async function openNodes(t: TestContext) {
  const url = await temporaryDatabase(t);
  const [one, two] = [await postgresControl(t, url), await postgresControl(t, url)];
  await addKey(one, 'first');
  const account = await addAccount(one);
  const [here, there] = [await nodeOn(t, one), await nodeOn(t, two)];
  return { here, there, account, bearer: await bearerOf(here.authenticator, account) };
}

async function nodeOn(t: TestContext, control: Control) {
  const authenticator = await openAuthenticator(control, { nowMs: Date.now, issuer: ISSUER });
  t.after(() => authenticator.close());
  return { control, authenticator };
}

async function bearerOf(authenticator: Authenticator, { sub, username, generation }: Account): Promise<string> {
  const iat = Math.floor(Date.now() / 1000);
  const claims = { iat, exp: iat + 3_600, sub, usr: username, ver: generation, jti: 'j' };
  return `Bearer ${(await authenticator.tokens()).sign(claims)}`;
}

/** The tier of the caller, or the error code. */
async function responseOf(authenticator: Authenticator, bearer: string): Promise<string> {
  try {
    return (await authenticator.authenticate(bearer)).account.tier;
  } catch (error) {
    return (error as AppError).code;
  }
}
