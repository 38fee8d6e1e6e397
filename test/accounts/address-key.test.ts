import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressKey } from '../../src/accounts/login-failures.ts';

for (const [address, key] of [
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
  ['2001:db8:1:2:ffff::', '2001:db8:1:2::'],
  ['2001:db8:1:3::6', '2001:db8:1:3::'],
  ['fe80::1%eth0', 'fe80::'],
  ['::1', '::'],
  ['', 'none'],
  ['unix:', 'none'],
  ['203.0.113.7, 192.0.2.1', 'none'],
] as const) {
  test(`failed logins from '${address}' are counted under ${key}`, () => assert.equal(addressKey(address), key));
}
