import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Credentials, LoginOutcome } from '../../src/accounts/login.ts';
import { hashPassword, verifyPassword } from '../../src/accounts/passwords.ts';
import {
  addAccount,
  addKey,
  authenticatorOf,
  createClock,
  loginOf,
  openWorld,
  PASSWORD,
  refusal,
  START_MS,
  type WholeLoginOptions,
} from './world.ts';

const GOOD: Required<Credentials> = {
  username: 'ada@example',
  password: PASSWORD,
  realm: 'intel',
  address: '192.0.2.1',
};
const FAILED = refusal('unauthorized', { message: 'Authentication failed', challenge: 'Bearer' });

test('a login returns a token that is valid for a day', async (t) => {
  const { login, authenticator, account, outcomes } = await open(t);
  const { token, expires } = await login(GOOD);
  assert.equal(expires, START_MS / 1000 + 86_400);
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  const { jti, ...others } = claims;
  const expected = { iat: START_MS / 1000, exp: expires, iss: 'urlwarden', aud: 'intel', sub: account.sub };
  assert.deepEqual(others, { ...expected, usr: account.username, ver: 1 });
  assert.match(jti, /^[0-9a-f-]{36}$/);
  assert.deepEqual((await authenticator.authenticate(`Bearer ${token}`)).account, account);
  assert.deepEqual(outcomes, ['ok']);
});

test('the lifetime of a token is configurable', async (t) => {
  const { login } = await open(t, { tokenLifeSeconds: 60 });
  assert.equal((await login(GOOD)).expires, START_MS / 1000 + 60);
});

test('usernames are compared without letter case and width', async (t) => {
  const { login } = await open(t);
  for (const username of ['ADA@Example', 'ａda@example']) assert.ok(await login({ ...GOOD, username }));
});

const WRONG: [string, Partial<Credentials>][] = [
  ['wrong password', { password: 'Password' }],
  ['empty password', { password: '' }],
  ['password too long', { password: 'x'.repeat(1_025) }],
  ['the placeholder password', { password: 'x' }],
  ['unknown user', { username: 'bob@example' }],
  ['empty username', { username: '' }],
  ['username too long', { username: 'a'.repeat(255) }],
  ['username that is not well-formed', { username: '\ud800' }],
  ['disabled account', { username: 'disabled' }],
  ['other realm', { realm: 'extel' }],
  ['realm in another letter case', { realm: 'Intel' }],
  ['no realm', { realm: '' }],
];

test('every failed login has the same error, after one hash', async (t) => {
  let hashes = 0;
  const verify: WholeLoginOptions['verify'] = (password, hash) => {
    hashes++;
    return verifyPassword(password, hash);
  };
  const { login, control, outcomes } = await open(t, { verify });
  await addAccount(control, { username: 'disabled', sub: '00000002', isEnabled: false });
  for (const [i, [why, wrong]] of WRONG.entries()) {
    await assert.rejects(login({ ...GOOD, address: `192.0.2.${i}`, ...wrong }), FAILED, why);
    assert.equal(hashes, i + 1, why);
  }
  assert.deepEqual(outcomes, new Array(WRONG.length).fill('failed'));
});

test('an unusable password never matches, also when the placeholder would', async (t) => {
  const { login, control } = await open(t);
  await addAccount(control, { username: 'x', sub: '00000002', passwordHash: await hashPassword('x') });
  assert.ok(await login({ ...GOOD, username: 'x', password: 'x' }));
  await assert.rejects(login({ ...GOOD, username: 'x', password: '' }), FAILED);
});

test('a token issued after a new password and a new key is immediately valid', async (t) => {
  const { login, control, authenticator, account } = await open(t);
  const before = await login(GOOD);
  await authenticator.authenticate(`Bearer ${before.token}`);
  await control.changeAccount(account.sub, { passwordHash: await hashPassword('new'), raisesGeneration: true });
  await addKey(control, 'second', START_MS);
  await assert.rejects(login(GOOD), FAILED);
  const { token } = await login({ ...GOOD, password: 'new' });
  assert.equal((await authenticator.authenticate(`Bearer ${token}`)).account.generation, 2);
  await assert.rejects(async () => authenticator.authenticate(`Bearer ${before.token}`), refusal('unauthorized'));
});

test('wrong passwords for one user are limited per address', async (t) => {
  const { login, clock, outcomes } = await open(t);
  const wrong = { ...GOOD, password: 'wrong' };
  for (let i = 0; i < 10; i++) await assert.rejects(login(wrong), FAILED);
  await assert.rejects(login(GOOD), refusal('limit_reached', { retryAfterSeconds: 60 }));
  assert.equal(outcomes.at(-1), 'limited');
  assert.ok(await login({ ...GOOD, address: '192.0.2.2' }));
  clock.advance(60_000);
  assert.ok(await login(GOOD), 'the limited attempt did not count');
  for (let i = 0; i < 10; i++) await assert.rejects(login(wrong), FAILED);
});

test('an address is limited for every user who has not logged in from it before', async (t) => {
  const { login, control } = await open(t);
  await addAccount(control, { username: 'bob', sub: '00000002' });
  const from = { ...GOOD, address: '2001:db8::1' };
  await login(from);
  for (let i = 0; i < 20; i++) {
    await assert.rejects(login({ ...from, address: `2001:db8::${i}`, username: `guess ${i}` }), FAILED);
  }
  await assert.rejects(login({ ...from, username: 'bob' }), refusal('limit_reached', { retryAfterSeconds: 30 }));
  assert.ok(await login(from), 'known here');
  assert.ok(await login({ ...from, username: 'bob', address: '2001:db8:0:1::1' }), 'another network');
});

test('a known pair is forgotten after thirty days without a login', async (t) => {
  const { login, clock } = await open(t);
  const guess = async () => {
    for (let i = 0; i < 20; i++) await assert.rejects(login({ ...GOOD, username: `guess ${i}` }), FAILED);
  };
  const days = (count: number) => count * 86_400_000;
  await login(GOOD);
  clock.advance(days(30) - 1);
  await guess();
  await login(GOOD);
  clock.advance(days(30));
  await guess();
  await assert.rejects(login(GOOD), refusal('limit_reached'));
});

test('frequent logins are delayed, then refused; tokens stay valid', async (t) => {
  const { login, clock, sleeps, outcomes, authenticator } = await open(t);
  const { token } = await login(GOOD);
  for (let i = 1; i < 29; i++) await login(GOOD);
  assert.deepEqual(sleeps, [250, 500, 1_000, 2_000, 4_000, ...new Array(14).fill(8_000)]);
  assert.deepEqual(outcomes, [...new Array(10).fill('ok'), ...new Array(19).fill('penalized')]);
  clock.advance(1_000);
  for (let i = 0; i < 3; i++) await assert.rejects(login(GOOD), refusal('limit_reached', { retryAfterSeconds: 599 }));
  assert.ok(await authenticator.authenticate(`Bearer ${token}`));
  await assert.rejects(login({ ...GOOD, password: 'wrong' }), refusal('limit_reached'), 'refused without a hash');

  const elsewhere = { ...GOOD, address: '192.0.2.2' };
  await assert.rejects(login({ ...elsewhere, password: 'wrong' }), FAILED);
  await assert.rejects(login(elsewhere), refusal('limit_reached', { retryAfterSeconds: 599 }));

  clock.advance(599_000);
  assert.ok(await login(GOOD), 'refused logins did not count');
});

test('concurrent logins are counted exactly', async (t) => {
  const { login, sleeps } = await open(t, { cores: 64 });
  const all = await Promise.allSettled(Array.from({ length: 40 }, () => login(GOOD)));
  const admitted = all.filter(({ status }) => status === 'fulfilled').length;
  assert.equal(admitted, 29);
  assert.equal(sleeps.length, 19);
});

test('a login is refused with Retry-After when the queue is full', async (t) => {
  const { login, outcomes } = await open(t, { cores: 2 });
  const all = await Promise.allSettled(
    Array.from({ length: 40 }, (_, i) => login({ ...GOOD, username: `guess ${i}`, address: `192.0.2.${i}` })),
  );
  const codes = Map.groupBy(all, (one) => one.status === 'rejected' && one.reason.code);
  assert.equal(codes.get('unauthorized')?.length, 1 + 16);
  assert.equal(codes.get('overloaded')?.length, 40 - 17);
  assert.equal(outcomes.filter((outcome) => outcome === 'busy').length, 40 - 17);
  const busy = all.at(-1) as PromiseRejectedResult;
  assert.equal(busy.reason.retryAfterSeconds, 2);
});

test('one login waits per address, except for known users', async (t) => {
  const { login, control } = await open(t, { cores: 2 });
  await addAccount(control, { username: 'bob', sub: '00000002' });
  await login(GOOD);
  await login({ ...GOOD, username: 'bob' });
  const wrong = (username: string) => login({ ...GOOD, username }).catch(({ code }) => code);
  const [running, waiting, refused] = [wrong('c'), wrong('d'), wrong('e')];
  const known = await Promise.allSettled([login(GOOD), login({ ...GOOD, username: 'bob' })]);
  assert.deepEqual(
    known.map(({ status }) => status),
    ['fulfilled', 'fulfilled'],
  );
  assert.deepEqual(await Promise.all([running, waiting, refused]), ['unauthorized', 'unauthorized', 'overloaded']);
});

test('a store that is down does not count as a failed login', async (t) => {
  const { control, authenticator, clock } = await open(t);
  const accountByUsername = () => Promise.reject(new Error('down'));
  const login = loginOf({
    store: { ...control, accountByUsername },
    authenticator,
    nowMs: clock.nowMs,
  });
  for (let i = 0; i < 11; i++) await assert.rejects(login(GOOD), /down/);
});

async function open(t: TestContext, options: Partial<WholeLoginOptions> = {}) {
  const clock = createClock();
  const control = await openWorld(t);
  const account = await addAccount(control);
  const authenticator = await authenticatorOf(t, control, { nowMs: clock.nowMs });
  const outcomes: LoginOutcome[] = [];
  const sleeps: number[] = [];
  const login = loginOf({
    store: control,
    authenticator,
    nowMs: clock.nowMs,
    sleep: async (ms) => sleeps.push(ms),
    onOutcome: (outcome) => outcomes.push(outcome),
    ...options,
  });
  return { clock, control, account, authenticator, login, outcomes, sleeps };
}
