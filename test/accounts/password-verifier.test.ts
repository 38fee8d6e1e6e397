import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPasswordVerifier } from '../../src/accounts/password-verifier.ts';
import { hashPassword } from '../../src/accounts/passwords.ts';

const SALT = Buffer.alloc(16).toString('base64').replace(/=+$/, '');
const TAG = Buffer.alloc(32).toString('base64').replace(/=+$/, '');

test('passwords are verified on another thread with the same results', async (t) => {
  const verifier = createPasswordVerifier();
  t.after(() => verifier.close());
  const hash = await hashPassword('right');
  const results = ['right', 'wrong', 'Right', 'right'].map((password) => verifier.verify(password, hash));
  assert.deepEqual(await Promise.all(results), [true, false, false, true]);
  await assert.rejects(verifier.verify('right', 'damaged'), /damaged/);
});

test('close waits for earlier calls, and can be called again', async () => {
  const verifier = createPasswordVerifier();
  const hash = await hashPassword('x');
  const results: string[] = [];
  void verifier.verify('x', hash).then((isMatch) => results.push(`verified ${isMatch}`));
  await verifier.close();
  results.push('closed');
  assert.deepEqual(results, ['verified true', 'closed']);
  await verifier.close();
});

test('a second password does not wait for the first one on four cores', async (t) => {
  const verifier = createPasswordVerifier(4);
  t.after(() => verifier.close());
  const [quick, slow] = [1, 500].map((passes) => `$argon2id$v=19$m=1024,t=${passes},p=1$${SALT}$${TAG}`) as [
    string,
    string,
  ];
  await Promise.all([verifier.verify('x', quick), verifier.verify('x', quick)]); // both threads have started
  const order: string[] = [];
  await Promise.all([
    verifier.verify('x', slow).then(() => order.push('slow')),
    verifier.verify('x', quick).then(() => order.push('quick')),
  ]);
  assert.deepEqual(order, ['quick', 'slow']);
});
