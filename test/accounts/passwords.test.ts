import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DUMMY_HASH, hashPassword, isUsablePassword, verifyPassword } from '../../src/accounts/passwords.ts';
import { AppError } from '../../src/core/errors.ts';

/** From test.c of the reference implementation, github.com/P-H-C/phc-winner-argon2. Their costs differ. */
const REFERENCE = [
  '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc',
  '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
];

test('a hash includes its parameters and a random salt', async () => {
  const first = await hashPassword('correct horse');
  assert.match(first, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.notEqual(first, await hashPassword('correct horse'));
});

test('a password matches its hash, another password does not', async () => {
  for (const password of ['a', 'pässwörd \u0000 \u{1f511}', 'x'.repeat(1024)]) {
    const hash = await hashPassword(password);
    assert.equal(await verifyPassword(password, hash), true);
    assert.equal(await verifyPassword(`${password} `, hash), false);
  }
});

test('verification uses the cost in the hash', async () => {
  for (const hash of REFERENCE) {
    assert.equal(await verifyPassword('password', hash), true, hash);
    assert.equal(await verifyPassword('Password', hash), false, hash);
  }
});

test('passwords have 1 to 1024 bytes', async () => {
  const cases = [
    { password: '', isUsable: false },
    { password: 'x', isUsable: true },
    { password: 'x'.repeat(1024), isUsable: true },
    { password: 'x'.repeat(1025), isUsable: false },
    { password: 'ü'.repeat(512), isUsable: true },
    { password: 'ü'.repeat(513), isUsable: false },
  ];
  for (const { password, isUsable } of cases) {
    assert.equal(isUsablePassword(password), isUsable, `${password.length} × ${password[0]}`);
    if (!isUsable) await assert.rejects(hashPassword(password), (error: AppError) => error.code === 'bad_request');
  }
});

test('the dummy hash costs as much as a real one and matches no password', async () => {
  const costOf = (hash: string) => hash.split('$').slice(0, 4);
  assert.deepEqual(costOf(DUMMY_HASH), costOf(await hashPassword('x')));
  assert.equal(DUMMY_HASH.length, (await hashPassword('x')).length);
  assert.equal(await verifyPassword('x', DUMMY_HASH), false);
});

test('a damaged hash is an error, not a wrong password', async () => {
  const good = await hashPassword('x');
  const damaged = [
    '',
    'plain',
    good.slice(0, 40),
    `${good}=`,
    good.replace('argon2id', 'argon2d'),
    good.replace('v=19', 'v=16'),
  ];
  for (const hash of damaged) {
    await assert.rejects(verifyPassword('x', hash), (error) => !(error instanceof AppError), hash);
  }
});
