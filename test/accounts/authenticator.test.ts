import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Account } from '../../src/accounts/store.ts';
import { createTokens } from '../../src/accounts/tokens.ts';
import type { Control } from '../../src/app/stores.ts';
import { BUILT_IN_TIERS, limitsOf, type Tier } from '../../src/core/tier.ts';
import { until } from '../until.ts';
import { addAccount, addKey, authenticatorOf, createClock, ISSUER, openWorld, refusal, START_MS } from './world.ts';

const LIFE_SECONDS = 86_400;
const STANDARD = BUILT_IN_TIERS.find(({ name }) => name === 'standard') as Tier;
const INVALID = {
  message: 'The token is malformed, expired or revoked; log in again',
  challenge:
    'Bearer error="invalid_token", error_description="The token is malformed, expired or revoked; log in again"',
};

const OF_UNKNOWN_KEY = `Bearer ${createTokens(
  [{ kid: 'unknown', secret: new Uint8Array(32), createdTs: 0 }],
  ISSUER,
).sign(claimsOf({ sub: '00000001', username: 'ada@example', generation: 1 }, 'j'))}`;

test('a valid token returns its caller, without a promise when it was verified before', async (t) => {
  const { authenticator, bearer, account } = await open(t);
  const first = authenticator.authenticate(bearer);
  assert.ok(first instanceof Promise);
  assert.deepEqual(await first, { account, limits: limitsOf(STANDARD) });
  assert.equal(authenticator.authenticate(bearer), await first);
});

test('the scheme is accepted in any letter case', async (t) => {
  const { authenticator, token, account } = await open(t);
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer ']) {
    assert.deepEqual((await authenticator.authenticate(`${scheme} ${token}`)).account, account, scheme);
  }
});

test('without a token the challenge has the scheme only', async (t) => {
  const { authenticator } = await open(t);
  for (const header of [undefined, '', 'Basic YTpi', 'Bearerx', 'Token abc', ' Bearer abc']) {
    const refused = refusal('unauthorized', { challenge: 'Bearer' });
    await assert.rejects(async () => authenticator.authenticate(header), refused, header);
  }
});

test('an invalid token gets the challenge invalid_token', async (t) => {
  const { authenticator } = await open(t);
  for (const header of ['Bearer', 'Bearer ', 'Bearer abc', 'Bearer a.b.c', `Bearer ${'x'.repeat(16_000)}`]) {
    await assert.rejects(async () => authenticator.authenticate(header), refusal('unauthorized', INVALID), header);
  }
});

test('two tokens, or a token with text after it, are invalid', async (t) => {
  const { authenticator, bearer, token } = await open(t);
  for (const header of [`${bearer} ${token}`, `${bearer},`, `${bearer}, Basic YTpi`, `${bearer} `]) {
    await assert.rejects(async () => authenticator.authenticate(header), refusal('unauthorized', INVALID), header);
  }
});

test('a verified signature is accepted only with its own token', async (t) => {
  const { authenticator, bearer } = await open(t);
  await authenticator.authenticate(bearer);
  for (const header of [bearer.replace('.', '.x'), bearer.slice(-43), `Bearer ${bearer.slice(-43)}`]) {
    await assert.rejects(async () => authenticator.authenticate(header), refusal('unauthorized'), header);
  }
});

test('a token expires, also when it is cached', async (t) => {
  const { authenticator, bearer, clock } = await open(t);
  await authenticator.authenticate(bearer);
  clock.advance(LIFE_SECONDS * 1000 - 1);
  await authenticator.refresh();
  assert.ok(!(authenticator.authenticate(bearer) instanceof Promise));
  clock.advance(1);
  await assert.rejects(async () => authenticator.authenticate(bearer), refusal('unauthorized', INVALID));
});

type Change = {
  why: string;
  make: (control: Control, account: Account) => Promise<unknown>;
  code: 'unauthorized' | 'forbidden';
};
const CHANGES: Change[] = [
  {
    why: 'revocation',
    code: 'unauthorized',
    make: (control, { sub }) => control.changeAccount(sub, { raisesGeneration: true }),
  },
  { why: 'removal', code: 'unauthorized', make: (control, { sub }) => control.removeAccount(sub, 1) },
  { why: 'disabling', code: 'forbidden', make: (control, { sub }) => control.changeAccount(sub, { isEnabled: false }) },
  { why: 'immediate key rotation', code: 'unauthorized', make: (control) => addKey(control, 'second', START_MS) },
];

for (const { why, make, code } of CHANGES) {
  test(`${why} takes effect with the next refresh`, async (t) => {
    const { authenticator, control, account, bearer } = await open(t);
    await authenticator.authenticate(bearer);
    await make(control, account);
    await authenticator.refresh();
    await assert.rejects(async () => authenticator.authenticate(bearer), refusal(code));
  });

  test(`${why} takes effect within five seconds even when the poll hangs`, async (t) => {
    const { authenticator, control, account, bearer, clock, store } = await open(t);
    await authenticator.authenticate(bearer);
    await make(control, account);
    store.hang();
    clock.advance(5_000);
    assert.equal((await authenticator.authenticate(bearer)).account.sub, account.sub, 'accepted for five seconds');
    clock.advance(1);
    const refused = authenticator.authenticate(bearer);
    store.resume();
    await assert.rejects(async () => refused, refusal(code));
  });
}

test('tokens are valid again after their account is enabled again', async (t) => {
  const { authenticator, control, account, bearer } = await open(t);
  for (const isEnabled of [false, true]) {
    await control.changeAccount(account.sub, { isEnabled });
    await authenticator.refresh();
    if (!isEnabled) await assert.rejects(async () => authenticator.authenticate(bearer), refusal('forbidden'));
  }
  assert.equal((await authenticator.authenticate(bearer)).account.isEnabled, true);
});

test('after a rotation without --now older tokens stay valid', async (t) => {
  const { authenticator, control, bearer, account } = await open(t);
  await addKey(control, 'second');
  await authenticator.refresh();
  assert.deepEqual((await authenticator.authenticate(bearer)).account, account);
});

test('limits follow the tier, and a tier of the operator overrides a built-in one', async (t) => {
  const { authenticator, control, account, bearer } = await open(t);
  const custom = { ...STANDARD, name: 'custom', qmh: 3, ads: [] };
  await control.putTier(custom);
  await control.changeAccount(account.sub, { tier: 'custom' });
  await authenticator.refresh();
  assert.deepEqual((await authenticator.authenticate(bearer)).limits, limitsOf(custom));
  await control.putTier({ ...STANDARD, qmh: 7 });
  await control.changeAccount(account.sub, { tier: 'standard' });
  await authenticator.refresh();
  assert.equal((await authenticator.authenticate(bearer)).limits.qmh, 7);
});

test('an account whose tier does not exist is forbidden', async (t) => {
  const { control, account, bearer } = await open(t);
  await control.putTier({ ...STANDARD, name: 'custom' });
  await control.changeAccount(account.sub, { tier: 'custom' });
  const authenticator = await authenticatorOf(t, { ...control, tiers: async () => [] });
  await assert.rejects(async () => authenticator.authenticate(bearer), refusal('forbidden'));
});

test('an account of a tier that is newer than the snapshot is not forbidden', async (t) => {
  const { authenticator, control, account, bearer, clock } = await open(t);
  await authenticator.refresh();
  await control.putTier({ ...STANDARD, name: 'newer' });
  await control.changeAccount(account.sub, { tier: 'newer' });
  clock.advance(1_000);
  assert.equal((await authenticator.authenticate(bearer)).account.tier, 'newer');
});

test('tokens that are newer than the snapshot are valid, also immediately after a poll', async (t) => {
  const { authenticator, control, account, bearer } = await open(t);
  await authenticator.authenticate(bearer);
  await authenticator.refresh();
  await control.changeAccount(account.sub, { raisesGeneration: true });
  await addKey(control, 'second', START_MS);
  const newer = await bearerFor(control, { ...account, generation: 2 });
  const callers = await Promise.all([authenticator.authenticate(newer), authenticator.authenticate(newer)]);
  for (const caller of callers) assert.equal(caller.account.generation, 2);
});

test('a newer token is valid also immediately after an invalid one, and while that one causes a refresh', async (t) => {
  const { authenticator, control, account, bearer, store } = await open(t);
  await authenticator.authenticate(bearer);
  await assert.rejects(async () => authenticator.authenticate(OF_UNKNOWN_KEY), refusal('unauthorized'));
  await control.changeAccount(account.sub, { raisesGeneration: true });
  assert.ok(await authenticator.authenticate(await bearerFor(control, { ...account, generation: 2 })));
  const released = store.hangAfterRead();
  const refused = assert.rejects(async () => authenticator.authenticate(OF_UNKNOWN_KEY), refusal('unauthorized'));
  await until(store.isHanging, 'the refresh reads the store');
  await control.changeAccount(account.sub, { raisesGeneration: true });
  const caller = authenticator.authenticate(await bearerFor(control, { ...account, generation: 3 }));
  await new Promise(setImmediate); // it waits
  released();
  await refused;
  assert.ok(await caller);
});

test('tokens of unknown keys cause at most ten reads of the store per second', async (t) => {
  const { authenticator, clock, store } = await open(t);
  const [readsBefore, startMs] = [store.versionReads(), clock.nowMs()];
  const refused = () => assert.rejects(async () => authenticator.authenticate(OF_UNKNOWN_KEY), refusal('unauthorized'));
  for (let i = 0; i < 50; i++) await Promise.all(Array.from({ length: 20 }, refused));
  assert.equal(store.versionReads() - readsBefore, 50);
  assert.equal(clock.nowMs() - startMs, 4_900);
});

test('a token that no change can make valid is refused without a read of the store', async (t) => {
  const { authenticator, token, clock, store } = await open(t);
  const [readsBefore, startMs] = [store.versionReads(), clock.nowMs()];
  const [header = '', payload = ''] = token.split('.');
  const forged = `${header}.${payload}.${'A'.repeat(43)}`;
  const noKey = Buffer.from('{"alg":"none","typ":"JWT","kid":"newer"}').toString('base64url');
  for (const invalid of ['abc', 'a.b.c', forged, `${noKey}.${payload}.${'A'.repeat(43)}`, token.slice(0, -1)])
    await assert.rejects(async () => authenticator.authenticate(`Bearer ${invalid}`), refusal('unauthorized'), invalid);
  assert.deepEqual([store.versionReads() - readsBefore, clock.nowMs() - startMs], [0, 0]);
});

test('requests are refused after the store was down for five seconds, and accepted when it is up', async (t) => {
  const { authenticator, bearer, clock, store, failures } = await open(t);
  await authenticator.authenticate(bearer);
  store.fail();
  clock.advance(5_000);
  assert.ok(!(authenticator.authenticate(bearer) instanceof Promise));
  clock.advance(1);
  await assert.rejects(async () => authenticator.authenticate(bearer), refusal('unavailable'));
  assert.deepEqual(failures, ['down']);
  store.resume();
  assert.ok(await authenticator.authenticate(bearer));
});

test('a slow refresh confirms the snapshot as of the time when it started', async (t) => {
  const { authenticator, bearer, clock, store } = await open(t);
  await authenticator.authenticate(bearer);
  store.hang();
  const refreshed = authenticator.refresh();
  clock.advance(3_000);
  store.resume();
  await refreshed;
  store.fail();
  clock.advance(2_001);
  await assert.rejects(async () => authenticator.authenticate(bearer), refusal('unavailable'));
});

test('a request waits at most one second for a store that does not respond', async (t) => {
  const { authenticator, bearer, clock, store, sleeps } = await open(t);
  store.hang();
  clock.advance(5_001);
  const refused = authenticator.authenticate(bearer);
  sleeps[0]?.wake();
  await assert.rejects(async () => refused, refusal('unavailable'));
  assert.deepEqual(
    sleeps.map(({ ms }) => ms),
    [1_000],
  );
});

test('a snapshot is too old when the clock was set back by more than five seconds', async (t) => {
  const { authenticator, bearer, clock, store } = await open(t);
  await authenticator.authenticate(bearer);
  store.fail();
  clock.advance(-5_001);
  await assert.rejects(async () => authenticator.authenticate(bearer), refusal('unavailable'));
});

test('a failed read of an account is not cached', async (t) => {
  const { control, bearer, account } = await open(t);
  let isDown = true;
  const accountBySub: Control['accountBySub'] = async (sub) => {
    if (isDown) throw new Error('down');
    return control.accountBySub(sub);
  };
  const authenticator = await authenticatorOf(t, { ...control, accountBySub });
  await assert.rejects(async () => authenticator.authenticate(bearer), /down/);
  isDown = false;
  assert.deepEqual((await authenticator.authenticate(bearer)).account, account);
});

test('an account read for an older version is not used for a newer one', async (t) => {
  const { control, bearer, account } = await open(t);
  const read = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const accountBySub: Control['accountBySub'] = async (sub) => {
    const found = await control.accountBySub(sub);
    read.resolve();
    await released.promise;
    return found;
  };
  const authenticator = await authenticatorOf(t, { ...control, accountBySub });
  const slow = authenticator.authenticate(bearer);
  await read.promise;
  await control.changeAccount(account.sub, { raisesGeneration: true });
  await authenticator.refresh();
  released.resolve();
  await slow;
  await assert.rejects(async () => authenticator.authenticate(bearer), refusal('unauthorized'));
});

test('what a failover has lost is not kept, although the version is the one that the snapshot had', async (t) => {
  const { control, account } = await open(t);
  const [keys, version] = [await control.keys(), await control.version()];
  const lostKey = { kid: 'lost', secret: new Uint8Array(32), createdTs: START_MS / 1000 };
  const bearer = await bearerFor(control, { ...account, sub: '00000002' });
  let [isAhead, keyReads] = [false, 0];
  const authenticator = await authenticatorOf(t, {
    ...control,
    version: async () => version + Number(isAhead),
    async keys() {
      if (keyReads++ > 0) return keys;
      isAhead = true;
      return [lostKey, ...keys];
    },
    accountBySub: async () => (isAhead ? { ...account, sub: '00000002' } : null),
  });
  assert.ok(await authenticator.authenticate(bearer), 'the account exists on the primary');
  isAhead = false;
  await authenticator.refresh();
  assert.equal(kidOf((await authenticator.tokens()).sign(claimsOf(account, 'j'))), keys[0]?.kid);
  isAhead = true;
  assert.ok(await authenticator.authenticate(bearer));
  isAhead = false;
  await authenticator.refresh();
  await assert.rejects(async () => authenticator.authenticate(bearer), refusal('unauthorized'));
});

test('a hundred concurrent requests read their account once', async (t) => {
  const { control, bearer } = await open(t);
  let reads = 0;
  const accountBySub: Control['accountBySub'] = (sub) => {
    reads++;
    return control.accountBySub(sub);
  };
  const authenticator = await authenticatorOf(t, { ...control, accountBySub });
  await Promise.all(Array.from({ length: 100 }, () => authenticator.authenticate(bearer)));
  assert.equal(reads, 1);
});

test('tokens that were evicted from the cache stay valid', async (t) => {
  const { authenticator, control, account } = await open(t);
  const tokens = await tokensOf(control);
  const bearers = Array.from({ length: 10_001 }, (_, i) => `Bearer ${tokens.sign(claimsOf(account, String(i)))}`);
  for (const bearer of bearers) await authenticator.authenticate(bearer);
  assert.ok(authenticator.authenticate(bearers[0]) instanceof Promise, 'the oldest is evicted');
  assert.ok(!(authenticator.authenticate(bearers.at(-1)) instanceof Promise), 'the newest is cached');
  assert.deepEqual((await authenticator.authenticate(bearers[0])).account, account);
});

test('the store is polled until the authenticator is closed', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { control, account, bearer } = await open(t);
  let reads = 0;
  const version = () => {
    reads++;
    return control.version();
  };
  const authenticator = await authenticatorOf(t, { ...control, version }, { pollMs: 1_000 });
  await authenticator.authenticate(bearer);
  await control.changeAccount(account.sub, { isEnabled: false });
  assert.ok(!(authenticator.authenticate(bearer) instanceof Promise));
  t.mock.timers.tick(1_000);
  await new Promise(setImmediate);
  await assert.rejects(async () => authenticator.authenticate(bearer), refusal('forbidden'));
  authenticator.close();
  reads = 0;
  t.mock.timers.tick(10_000);
  assert.equal(reads, 0);
});

test('concurrent refreshes read the store once', async (t) => {
  const { authenticator, store } = await open(t);
  const before = store.versionReads();
  store.hang();
  const refreshed = Array.from({ length: 100 }, () => authenticator.refresh());
  assert.equal(store.versionReads() - before, 1);
  store.resume();
  await Promise.all(refreshed);
  await authenticator.refresh();
  assert.equal(store.versionReads() - before, 2);
});

async function open(t: TestContext) {
  const clock = createClock();
  const control = await openWorld(t);
  const account = await addAccount(control);
  const bearer = await bearerFor(control, account);
  const store = interruptible(control);
  const failures: string[] = [];
  const onFailure = (error: unknown) => failures.push((error as Error).message);
  const sleeps: { ms: number; wake: () => void }[] = [];
  /** Sleeps between refreshes take no time; those that wait for the store end when the test says so. */
  const sleep = async (ms: number) =>
    ms <= 100 ? clock.advance(ms) : new Promise<void>((wake) => sleeps.push({ ms, wake }));
  const authenticator = await authenticatorOf(t, store.control, { nowMs: clock.nowMs, onFailure, sleep });
  return {
    sleeps,
    clock,
    control,
    account,
    bearer,
    token: bearer.slice('Bearer '.length),
    store,
    failures,
    authenticator,
  };
}

/** A store whose `version` can fail or hang. */
function interruptible(control: Control) {
  let gate: Promise<void> = Promise.resolve();
  let release: () => void = () => {};
  let versionReads = 0;
  let after: Promise<void> | null = null;
  let isHanging = false;
  const version = async () => {
    versionReads++;
    await gate;
    const read = await control.version();
    isHanging = after !== null;
    await after;
    return read;
  };
  return {
    control: { ...control, version },
    versionReads: () => versionReads,
    isHanging: () => isHanging,
    /** The next answers are as of the time of their reads, and come only after the returned function is called. */
    hangAfterRead() {
      const { promise, resolve } = Promise.withResolvers<void>();
      after = promise;
      return () => {
        after = null;
        resolve();
      };
    },
    fail() {
      gate = Promise.reject(new Error('down'));
      gate.catch(() => {});
    },
    hang() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      release = resolve;
    },
    resume() {
      release();
      gate = Promise.resolve();
    },
  };
}

async function bearerFor(control: Control, account: Account): Promise<string> {
  return `Bearer ${(await tokensOf(control)).sign(claimsOf(account, 'j'))}`;
}

async function tokensOf(control: Control) {
  return createTokens(await control.keys(), ISSUER);
}

function kidOf(token: string): string {
  return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;
}

function claimsOf({ sub, username, generation }: Pick<Account, 'sub' | 'username' | 'generation'>, jti: string) {
  const iat = START_MS / 1000;
  return { iat, exp: iat + LIFE_SECONDS, sub, usr: username, jti, ver: generation };
}
