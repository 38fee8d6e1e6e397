import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setInterval } from 'node:timers/promises';
import type { Credentials, LoginOutcome } from '../../src/accounts/login.ts';
import { hashPassword } from '../../src/accounts/passwords.ts';
import { addAccount, authenticatorOf, loginOf, openWorld, PASSWORD } from './world.ts';

const ADA: Required<Credentials> = {
  username: 'ada@example',
  password: PASSWORD,
  realm: 'intel',
  address: '192.0.2.1',
};

const ATTEMPTS = 50;
const TOLERANCE = 0.05;
/** Other tests run on the same cores and disturb single rounds; a difference in the code shows in every round. */
const MAX_ROUNDS = 8;

test('an unknown user and a wrong password take the same time', async (t) => {
  const control = await openWorld(t);
  await addAccount(control, { passwordHash: await hashPassword(PASSWORD) });
  const authenticator = await authenticatorOf(t, control);
  // A new `Login` for every attempt, so that no limit applies.
  const timed = async (request: Partial<Credentials>) => {
    const login = loginOf({ store: control, authenticator, nowMs: Date.now });
    const startMs = performance.now();
    await assert.rejects(login({ ...ADA, ...request }), { message: 'Authentication failed' });
    return performance.now() - startMs;
  };

  let difference = Number.POSITIVE_INFINITY;
  for (let round = 1; round <= MAX_ROUNDS && difference > TOLERANCE; round++) {
    const unknownUser: number[] = [];
    const wrongPassword: number[] = [];
    for (let i = 0; i < ATTEMPTS; i++) {
      unknownUser.push(await timed({ username: 'bob@example' }));
      wrongPassword.push(await timed({ password: 'wrong' }));
    }
    const [a, b] = [median(unknownUser), median(wrongPassword)];
    difference = Math.abs(a - b) / Math.max(a, b);
    t.diagnostic(`medians ${a.toFixed(2)} ms and ${b.toFixed(2)} ms, ${(100 * difference).toFixed(2)} % apart`);
  }
  assert.ok(difference <= TOLERANCE, `medians are ${(100 * difference).toFixed(1)} % apart`);
});

test('a known customer can log in during fifty wrong logins a second from fifty addresses', async (t) => {
  const control = await openWorld(t);
  await addAccount(control, { passwordHash: await hashPassword(PASSWORD) });
  const authenticator = await authenticatorOf(t, control, { nowMs: Date.now });
  const outcomes: LoginOutcome[] = [];
  const login = loginOf({
    store: control,
    authenticator,
    nowMs: Date.now,
    cores: 2,
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  const customer = async () => {
    const startMs = performance.now();
    await login(ADA);
    return performance.now() - startMs;
  };
  await customer();

  const tookMs: Promise<number>[] = [];
  let sent = 0;
  for await (const _ of setInterval(1000 / 50)) {
    login({ ...ADA, password: 'wrong', address: `198.51.100.${sent++ % 50}` }).catch(() => {});
    if (sent % 50 === 0) tookMs.push(customer());
    if (sent === 150) break;
  }
  for (const ms of await Promise.all(tookMs)) {
    t.diagnostic(`a known customer logged in after ${ms.toFixed(0)} ms`);
    assert.ok(ms < 2_000, `${ms} ms`);
  }
  assert.ok(outcomes.includes('busy'), 'the queue was never full');
});

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
