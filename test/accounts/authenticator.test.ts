import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Account } from '../../src/accounts/store.ts';
import { createTokens } from '../../src/accounts/tokens.ts';
import type { Control } from '../../src/app/stores.ts';
import { BUILT_IN_TIERS, limitsOf, type Tier } from '../../src/core/tier.ts';
import { addAccount, addKey, createClock, directoryOf, ISSUER, openWorld, refusal, START_MS } from './world.ts';

const LIFE_SECONDS = 86_400;
const STANDARD = BUILT_IN_TIERS.find(({ name }) => name === 'standard') as Tier;
const INVALID = {
  message: 'The token is malformed, expired or revoked; log in again',
  challenge:
    'Bearer error="invalid_token", error_description="The token is malformed, expired or revoked; log in again"',
};

test('a good token tells who asks, at once when it was seen before', async (t) => {
  const { directory, bearer, account } = await open(t);
  const first = directory.authenticate(bearer);
  assert.ok(first instanceof Promise);
  assert.deepEqual(await first, { account, limits: limitsOf(STANDARD) });
  assert.equal(directory.authenticate(bearer), await first);
});

test('the scheme may be written in any case', async (t) => {
  const { directory, token, account } = await open(t);
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer ']) {
    assert.deepEqual((await directory.authenticate(`${scheme} ${token}`)).account, account, scheme);
  }
});

test('who sends no token is told the scheme', async (t) => {
  const { directory } = await open(t);
  for (const header of [undefined, '', 'Basic YTpi', 'Bearerx', 'Token abc', ' Bearer abc']) {
    const refused = refusal('unauthorized', { challenge: 'Bearer' });
    await assert.rejects(async () => directory.authenticate(header), refused, header);
  }
});

test('who sends a bad token is told so', async (t) => {
  const { directory } = await open(t);
  for (const header of ['Bearer', 'Bearer ', 'Bearer abc', 'Bearer a.b.c', `Bearer ${'x'.repeat(16_000)}`]) {
    await assert.rejects(async () => directory.authenticate(header), refusal('unauthorized', INVALID), header);
  }
});

test('two tokens, or one with something after it, are none', async (t) => {
  const { directory, bearer, token } = await open(t);
  for (const header of [`${bearer} ${token}`, `${bearer},`, `${bearer}, Basic YTpi`, `${bearer} `]) {
    await assert.rejects(async () => directory.authenticate(header), refusal('unauthorized', INVALID), header);
  }
});

test('a signature that was seen before vouches for its own token only', async (t) => {
  const { directory, bearer } = await open(t);
  await directory.authenticate(bearer);
  for (const header of [bearer.replace('.', '.x'), bearer.slice(-43), `Bearer ${bearer.slice(-43)}`]) {
    await assert.rejects(async () => directory.authenticate(header), refusal('unauthorized'), header);
  }
});

test('a token expires, also one that was seen before', async (t) => {
  const { directory, bearer, clock } = await open(t);
  await directory.authenticate(bearer);
  clock.advance(LIFE_SECONDS * 1000 - 1);
  await directory.refresh();
  assert.ok(!(directory.authenticate(bearer) instanceof Promise));
  clock.advance(1);
  await assert.rejects(async () => directory.authenticate(bearer), refusal('unauthorized', INVALID));
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
  { why: 'removal', code: 'unauthorized', make: (control, { sub }) => control.removeAccount(sub) },
  { why: 'disabling', code: 'forbidden', make: (control, { sub }) => control.changeAccount(sub, { isEnabled: false }) },
  { why: 'a key rotated away', code: 'unauthorized', make: (control) => addKey(control, 'second', START_MS) },
];

for (const { why, make, code } of CHANGES) {
  test(`${why} acts with the next look into the store`, async (t) => {
    const { directory, control, account, bearer } = await open(t);
    await directory.authenticate(bearer);
    await make(control, account);
    await directory.refresh();
    await assert.rejects(async () => directory.authenticate(bearer), refusal(code));
  });

  test(`${why} acts within five seconds though the poll hangs`, async (t) => {
    const { directory, control, account, bearer, clock, store } = await open(t);
    await directory.authenticate(bearer);
    await make(control, account);
    store.hang();
    clock.advance(5_000);
    assert.equal((await directory.authenticate(bearer)).account.sub, account.sub, 'not later than it must');
    clock.advance(1);
    const refused = directory.authenticate(bearer);
    store.resume();
    await assert.rejects(async () => refused, refusal(code));
  });
}

test('enabling an account again makes its tokens good again', async (t) => {
  const { directory, control, account, bearer } = await open(t);
  for (const isEnabled of [false, true]) {
    await control.changeAccount(account.sub, { isEnabled });
    await directory.refresh();
    if (!isEnabled) await assert.rejects(async () => directory.authenticate(bearer), refusal('forbidden'));
  }
  assert.equal((await directory.authenticate(bearer)).account.isEnabled, true);
});

test('rotation without --now lets older tokens live', async (t) => {
  const { directory, control, bearer, account } = await open(t);
  await addKey(control, 'second');
  await directory.refresh();
  assert.deepEqual((await directory.authenticate(bearer)).account, account);
});

test('limits follow the tier, and an operator’s tier goes before a built-in one', async (t) => {
  const { directory, control, account, bearer } = await open(t);
  const custom = { ...STANDARD, name: 'custom', qmh: 3, ads: [] };
  await control.putTier(custom);
  await control.changeAccount(account.sub, { tier: 'custom' });
  await directory.refresh();
  assert.deepEqual((await directory.authenticate(bearer)).limits, limitsOf(custom));
  await control.putTier({ ...STANDARD, qmh: 7 });
  await control.changeAccount(account.sub, { tier: 'standard' });
  await directory.refresh();
  assert.equal((await directory.authenticate(bearer)).limits.qmh, 7);
});

test('an account whose tier is gone is forbidden', async (t) => {
  const { control, account, bearer } = await open(t);
  await control.putTier({ ...STANDARD, name: 'custom' });
  await control.changeAccount(account.sub, { tier: 'custom' });
  const directory = await directoryOf(t, { ...control, tiers: async () => [] });
  await assert.rejects(async () => directory.authenticate(bearer), refusal('forbidden'));
});

test('a token that is newer than the copy is good', async (t) => {
  const { directory, control, account, bearer, clock } = await open(t);
  await directory.authenticate(bearer);
  await control.changeAccount(account.sub, { raisesGeneration: true });
  await addKey(control, 'second', START_MS);
  const newer = await bearerFor(control, { ...account, generation: 2 });
  clock.advance(1_000);
  assert.equal((await directory.authenticate(newer)).account.generation, 2);
});

test('bad tokens make nobody look into the store more than ten times a second', async (t) => {
  const { directory, clock, store } = await open(t);
  for (let i = 0; i < 1_000; i++) {
    clock.advance(1);
    await assert.rejects(async () => directory.authenticate('Bearer a.b.c'), refusal('unauthorized'));
  }
  assert.equal(store.looks(), 1 + 10);
});

test('a store that is away is told as 503 after five seconds, and forgotten when it is back', async (t) => {
  const { directory, bearer, clock, store, failures } = await open(t);
  await directory.authenticate(bearer);
  store.fail();
  clock.advance(5_000);
  assert.ok(!(directory.authenticate(bearer) instanceof Promise));
  clock.advance(1);
  await assert.rejects(async () => directory.authenticate(bearer), refusal('unavailable'));
  assert.deepEqual(failures, ['away']);
  store.resume();
  assert.ok(await directory.authenticate(bearer));
});

test('an answer that was long on its way confirms the time at which it was asked for', async (t) => {
  const { directory, bearer, clock, store } = await open(t);
  await directory.authenticate(bearer);
  store.hang();
  const refreshed = directory.refresh();
  clock.advance(3_000);
  store.resume();
  await refreshed;
  store.fail();
  clock.advance(2_001);
  await assert.rejects(async () => directory.authenticate(bearer), refusal('unavailable'));
});

test('a store that does not answer is waited for no longer than a second', async (t) => {
  const { directory, bearer, clock, store, sleeps } = await open(t);
  store.hang();
  clock.advance(5_001);
  const refused = directory.authenticate(bearer);
  sleeps[0]?.wake();
  await assert.rejects(async () => refused, refusal('unavailable'));
  assert.deepEqual(
    sleeps.map(({ ms }) => ms),
    [1_000],
  );
});

test('a clock that was set back confirms nothing', async (t) => {
  const { directory, bearer, clock, store } = await open(t);
  await directory.authenticate(bearer);
  store.fail();
  clock.advance(-5_001);
  await assert.rejects(async () => directory.authenticate(bearer), refusal('unavailable'));
});

test('an account that could not be read is read again', async (t) => {
  const { control, bearer, account } = await open(t);
  let isAway = true;
  const accountBySub: Control['accountBySub'] = async (sub) => {
    if (isAway) throw new Error('away');
    return control.accountBySub(sub);
  };
  const directory = await directoryOf(t, { ...control, accountBySub });
  await assert.rejects(async () => directory.authenticate(bearer), /away/);
  isAway = false;
  assert.deepEqual((await directory.authenticate(bearer)).account, account);
});

test('what was read for an older version does not outlive it', async (t) => {
  const { control, bearer, account } = await open(t);
  const read = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const accountBySub: Control['accountBySub'] = async (sub) => {
    const found = await control.accountBySub(sub);
    read.resolve();
    await released.promise;
    return found;
  };
  const directory = await directoryOf(t, { ...control, accountBySub });
  const slow = directory.authenticate(bearer);
  await read.promise;
  await control.changeAccount(account.sub, { raisesGeneration: true });
  await directory.refresh();
  released.resolve();
  await slow;
  await assert.rejects(async () => directory.authenticate(bearer), refusal('unauthorized'));
});

test('a hundred requests at once read their account once', async (t) => {
  const { control, bearer } = await open(t);
  let reads = 0;
  const accountBySub: Control['accountBySub'] = (sub) => {
    reads++;
    return control.accountBySub(sub);
  };
  const directory = await directoryOf(t, { ...control, accountBySub });
  await Promise.all(Array.from({ length: 100 }, () => directory.authenticate(bearer)));
  assert.equal(reads, 1);
});

test('more tokens than are kept stay good', async (t) => {
  const { directory, control, account } = await open(t);
  const tokens = await tokensOf(control);
  const bearers = Array.from({ length: 10_001 }, (_, i) => `Bearer ${tokens.sign(claimsOf(account, String(i)))}`);
  for (const bearer of bearers) await directory.authenticate(bearer);
  assert.ok(directory.authenticate(bearers[0]) instanceof Promise, 'the oldest was forgotten');
  assert.ok(!(directory.authenticate(bearers.at(-1)) instanceof Promise), 'the newest was kept');
  assert.deepEqual((await directory.authenticate(bearers[0])).account, account);
});

test('the store is polled until the directory is closed', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { control, account, bearer } = await open(t);
  let looks = 0;
  const version = () => {
    looks++;
    return control.version();
  };
  const directory = await directoryOf(t, { ...control, version }, { pollMs: 1_000 });
  await directory.authenticate(bearer);
  await control.changeAccount(account.sub, { isEnabled: false });
  assert.ok(!(directory.authenticate(bearer) instanceof Promise));
  t.mock.timers.tick(1_000);
  await new Promise(setImmediate);
  await assert.rejects(async () => directory.authenticate(bearer), refusal('forbidden'));
  directory.close();
  looks = 0;
  t.mock.timers.tick(10_000);
  assert.equal(looks, 0);
});

test('however many ask, the store is looked into once at a time', async (t) => {
  const { directory, store } = await open(t);
  const before = store.looks();
  store.hang();
  const refreshed = Array.from({ length: 100 }, () => directory.refresh());
  assert.equal(store.looks() - before, 1);
  store.resume();
  await Promise.all(refreshed);
  await directory.refresh();
  assert.equal(store.looks() - before, 2);
});

async function open(t: TestContext) {
  const clock = createClock();
  const control = await openWorld(t);
  const account = await addAccount(control);
  const bearer = await bearerFor(control, account);
  const store = interrupted(control);
  const failures: string[] = [];
  const onFailure = (error: unknown) => failures.push((error as Error).message);
  const sleeps: { ms: number; wake: () => void }[] = [];
  const sleep = (ms: number) => new Promise<void>((wake) => sleeps.push({ ms, wake }));
  const directory = await directoryOf(t, store.control, { nowMs: clock.nowMs, onFailure, sleep });
  return { sleeps, clock, control, account, bearer, token: bearer.slice('Bearer '.length), store, failures, directory };
}

/** The same store, whose `version` can be made to fail or to hang. */
function interrupted(control: Control) {
  let gate: Promise<void> = Promise.resolve();
  let release: () => void = () => {};
  let looks = 0;
  const version = async () => {
    looks++;
    await gate;
    return control.version();
  };
  return {
    control: { ...control, version },
    looks: () => looks,
    fail() {
      gate = Promise.reject(new Error('away'));
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

function claimsOf({ sub, username, generation }: Account, jti: string) {
  const iat = START_MS / 1000;
  return { iat, exp: iat + LIFE_SECONDS, sub, usr: username, jti, ver: generation };
}
