import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPasswordJudge } from '../../src/accounts/password-judge.ts';
import { hashPassword } from '../../src/accounts/passwords.ts';

test('passwords are judged on another thread, as they are on this one', async (t) => {
  const judge = createPasswordJudge();
  t.after(() => judge.close());
  const hash = await hashPassword('right');
  const judged = ['right', 'wrong', 'Right', 'right'].map((password) => judge.verify(password, hash));
  assert.deepEqual(await Promise.all(judged), [true, false, false, true]);
  await assert.rejects(judge.verify('right', 'damaged'), /damaged/);
});

test('who still waits when its thread ends is refused, and who comes then gets another one', async (t) => {
  const judge = createPasswordJudge();
  t.after(() => judge.close());
  const hash = await hashPassword('x');
  const waiting = assert.rejects(judge.verify('x', hash), /ended/);
  await judge.close();
  await waiting;
  assert.equal(await judge.verify('x', hash), true);
});
