import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorizationOf, bearerToken, loginFailed, tokenInvalid } from '../../src/accounts/bearer.ts';

for (const [header, token] of [
  ['Bearer abc', 'abc'],
  ['bearer abc', 'abc'],
  ['BEARER    abc', 'abc'],
  ['Bearer a b', 'a b'],
  ['Bearer', ''],
  ['Bearer ', ''],
] as const) {
  test(`the token of ${JSON.stringify(header)}`, () => assert.equal(bearerToken(header), token));
}

for (const header of [undefined, '', 'Basic YTpi', 'Bearerabc', ' Bearer abc']) {
  test(`no token in ${JSON.stringify(header)}: the challenge has the scheme and no error`, () => {
    assert.throws(() => bearerToken(header), { code: 'unauthorized', challenge: 'Bearer' });
  });
}

test('an invalid token and a failed login have a challenge', () => {
  assert.equal(bearerToken(authorizationOf('abc')), 'abc');
  assert.match(tokenInvalid().challenge ?? '', /^Bearer error="invalid_token", error_description="[^"\\]+"$/);
  assert.deepEqual([loginFailed().code, loginFailed().challenge], ['unauthorized', 'Bearer']);
});
