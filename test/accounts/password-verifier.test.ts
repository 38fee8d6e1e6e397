import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPasswordVerifier } from '../../src/accounts/password-verifier.ts';
import { hashPassword } from '../../src/accounts/passwords.ts';

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
