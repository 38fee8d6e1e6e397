import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ensureKey, rotateKey } from '../../src/accounts/signing-keys.ts';
import { temporaryControl } from '../temporary-control.ts';

const TS = 1_700_000_000;
const DAY = 86_400;

async function open(t: TestContext) {
  const control = await temporaryControl(t);
  return { control, kids: async () => (await control.keys()).map(({ kid }) => kid) };
}

test('concurrent calls create the first key once', async (t) => {
  const { control, kids } = await open(t);
  const [a, b] = await Promise.all([ensureKey(control, TS), ensureKey(control, TS)]);
  assert.equal(a.kid, b.kid);
  assert.match(a.kid, /^[\w-]{8}$/);
  assert.equal(a.secret.length, 32);
  assert.deepEqual(Buffer.from(a.secret), Buffer.from(b.secret));
  assert.deepEqual(await kids(), [a.kid]);
});

test('a key that exists is returned without a write', async (t) => {
  const { control } = await open(t);
  const first = await ensureKey(control, TS);
  const store = { ...control, ensureKey: () => assert.fail('a write') };
  assert.equal((await ensureKey(store, TS)).kid, first.kid);
});

test('a rotated key is kept as long as its tokens can be valid', async (t) => {
  const { control, kids } = await open(t);
  const first = await ensureKey(control, TS);
  // A year old when it is superseded: its 25 days start then, because it signed until then.
  const second = await rotateKey(control, TS + 365 * DAY, false);
  assert.deepEqual(await kids(), [second.kid, first.kid]);
  const third = await rotateKey(control, TS + (365 + 24) * DAY, false);
  assert.deepEqual(await kids(), [third.kid, second.kid, first.kid]);
  const fourth = await rotateKey(control, TS + (365 + 26) * DAY, false);
  assert.deepEqual(await kids(), [fourth.kid, third.kid, second.kid]);
});

test('an immediate rotation drops all older keys, also when the clock was set back', async (t) => {
  const { control, kids } = await open(t);
  for (const ts of [TS, TS + DAY]) await rotateKey(control, ts, false);
  const last = await rotateKey(control, TS - DAY, true);
  assert.deepEqual(await kids(), [last.kid]);
});
