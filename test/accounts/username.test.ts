import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usernameKey } from '../../src/accounts/manage.ts';

for (const { why, username, key } of [
  { why: 'letter case does not matter', username: 'Ada@Example.COM', key: 'ada@example.com' },
  { why: 'full-width letters are equal to normal ones', username: 'Ａda', key: 'ada' },
  { why: 'a name without a domain', username: 'operator', key: 'operator' },
  { why: 'spaces are significant', username: ' a b ', key: ' a b ' },
  { why: 'composed and decomposed letters are equal', username: 'Ame\u0301lie', key: 'amélie' },
  { why: 'the maximum length', username: 'a'.repeat(254), key: 'a'.repeat(254) },
  { why: 'too long', username: 'a'.repeat(255), key: null },
  { why: 'empty', username: '', key: null },
  { why: 'half of a surrogate pair', username: 'a\ud800', key: null },
  { why: 'NUL', username: 'a\0', key: null },
]) {
  test(`username: ${why}`, () => {
    assert.equal(usernameKey(username), key);
  });
}
