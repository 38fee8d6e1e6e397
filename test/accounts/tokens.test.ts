import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { jwtVerify, SignJWT } from 'jose';
import type { SigningKey } from '../../src/accounts/store.ts';
import { type Claims, createTokens, SIGNATURE_LENGTH } from '../../src/accounts/tokens.ts';

const ISSUER = 'urlwarden';
const NOW = 1_800_000_000;
const OLD = key('old', 1);
const NEW = key('new', 2);
const CLAIMS = { iat: NOW, exp: NOW + 60, sub: '12345678', usr: 'ada@example', jti: 'j', ver: 3 };
const WHOLE: Claims = { ...CLAIMS, iss: ISSUER, aud: 'intel' };

const tokens = createTokens([NEW, OLD], ISSUER);
const good = tokens.sign(CLAIMS);

test('verify returns the claims of a token until it expires', () => {
  assert.deepEqual(tokens.verify(good, NOW), WHOLE);
  assert.deepEqual(tokens.verify(good, NOW + 59), WHOLE);
  assert.equal(tokens.verify(good, NOW + 60), null);
});

test('the newest key signs, older keys verify', () => {
  const older = createTokens([OLD], ISSUER).sign(CLAIMS);
  assert.deepEqual(decode(good, 0), { alg: 'HS256', typ: 'JWT', kid: 'new' });
  assert.deepEqual(tokens.verify(older, NOW), WHOLE);
  assert.equal(createTokens([NEW], ISSUER).verify(older, NOW), null);
  assert.throws(() => createTokens([], ISSUER).sign(CLAIMS), /no key/);
});

test('jose verifies tokens that we sign', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 254 }), fc.uuid(), async (usr, jti) => {
      const options = { issuer: ISSUER, audience: 'intel', algorithms: ['HS256'], currentDate: new Date(NOW * 1000) };
      const token = tokens.sign({ ...CLAIMS, usr, jti });
      const { payload, protectedHeader } = await jwtVerify(token, NEW.secret, options);
      assert.deepEqual(payload, { ...WHOLE, usr, jti });
      assert.deepEqual(protectedHeader, { alg: 'HS256', typ: 'JWT', kid: 'new' });
      assert.deepEqual(tokens.verify(token, NOW), payload);
    }),
  );
});

test('we verify tokens that jose signs', async () => {
  const signed = new SignJWT(WHOLE).setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: 'old' }).sign(OLD.secret);
  assert.deepEqual(tokens.verify(await signed, NOW), WHOLE);
});

test('a token with the longest username is valid', () => {
  const token = tokens.sign({ ...CLAIMS, usr: '\u0001'.repeat(254) });
  assert.equal(tokens.verify(token, NOW)?.usr.length, 254);
});

test('a token has at most 4,096 characters', () => {
  assert.notEqual(verifiedOfLength(4_096), null);
  assert.equal(verifiedOfLength(4_097), null);
});

for (const [name, claims, isValid] of [
  ['of a clock that is a minute ahead', { iat: NOW + 60, exp: NOW + 120 }, true],
  ['of a clock that is more than a minute ahead', { iat: NOW + 61, exp: NOW + 120 }, false],
  ['with the smallest numbers', { iat: 0, ver: 0 }, true],
] as const) {
  test(`a token ${name} is ${isValid ? 'valid' : 'refused'}`, () => {
    assert.equal(tokens.verify(tokens.sign({ ...CLAIMS, ...claims }), NOW) !== null, isValid);
  });
}

const [header = '', payload = '', signature = ''] = good.split('.');

test('a signature has SIGNATURE_LENGTH characters', () => assert.equal(signature.length, SIGNATURE_LENGTH));

const FORGED: Record<string, string> = {
  empty: '',
  'two parts': `${header}.${payload}`,
  'no signature': `${header}.${payload}.`,
  'four parts': `${good}.${signature}`,
  'an empty part before': `.${good}`,
  'a line break after': `${good}\n`,
  'padding after': `${good}=`,
  'padding inside': `${header}=.${payload}.${signature}`,
  'base64 instead of base64url': sign({ alg: 'HS256', typ: 'JWT', kid: 'new' }, '{"a":"???>>>"}', 'base64'),
  'spare bits in the signature': `${good.slice(0, -1)}${flipSpareBit(good.at(-1) ?? '')}`,
  'a changed payload': `${header}.${part({ ...WHOLE, sub: '87654321' })}.${signature}`,
  'a changed header': `${part({ alg: 'HS256', typ: 'JWT', kid: 'old' })}.${payload}.${signature}`,
  'a letter of the signature in full width': good.replace(/.$/, 'Ａ'),
  'a letter whose low byte is right': `${good.slice(0, -1)}${String.fromCharCode(0x100 + good.charCodeAt(good.length - 1))}`,
  huge: `${header}.${'A'.repeat(1_000_000)}.${signature}`,
  'too long, with a valid signature': sign(undefined, { ...WHOLE, usr: 'x'.repeat(4_096) }),
  'alg none': `${part({ alg: 'none', typ: 'JWT', kid: 'new' })}.${payload}.`,
  'alg none, signed': sign({ alg: 'none', typ: 'JWT', kid: 'new' }, WHOLE),
  'alg in another case': sign({ alg: 'hs256', typ: 'JWT', kid: 'new' }, WHOLE),
  'no kid': sign({ alg: 'HS256', typ: 'JWT' }, WHOLE),
  'unknown kid': sign({ alg: 'HS256', typ: 'JWT', kid: 'other' }, WHOLE),
  'kid of another key': sign({ alg: 'HS256', typ: 'JWT', kid: 'old' }, WHOLE),
  'kid that is not a string': sign({ alg: 'HS256', typ: 'JWT', kid: ['new'] }, WHOLE),
  'critical extension': sign({ alg: 'HS256', typ: 'JWT', kid: 'new', crit: ['exp'] }, WHOLE),
  'header with a key twice': sign('{"alg":"none","alg":"HS256","typ":"JWT","kid":"new"}', WHOLE),
  'claims with a key twice': sign(undefined, JSON.stringify(WHOLE).replace('{', '{"sub":"87654321",')),
  'claims with spaces': sign(undefined, JSON.stringify(WHOLE, null, 1)),
  'claims that are not JSON': sign(undefined, 'exp'),
  'claims null': sign(undefined, 'null'),
  'claims that are an array': sign(undefined, '[]'),
  'claims that are a string': sign(undefined, '"exp"'),
  'other issuer': sign(undefined, { ...WHOLE, iss: 'other' }),
  'other audience': sign(undefined, { ...WHOLE, aud: 'extel' }),
  'audience in an array': sign(undefined, { ...WHOLE, aud: ['intel'] }),
  'issued in the future': sign(undefined, { ...WHOLE, iat: NOW + 120, exp: NOW + 180 }),
  'expired before it was issued': sign(undefined, { ...WHOLE, iat: NOW + 60, exp: NOW + 60 }),
  'exp as a string': sign(undefined, { ...WHOLE, exp: String(WHOLE.exp) }),
  'exp with a fraction': sign(undefined, { ...WHOLE, exp: WHOLE.exp + 0.5 }),
  'exp negative': sign(undefined, { ...WHOLE, exp: -1 }),
  'exp beyond integers': sign(undefined, { ...WHOLE, exp: 2 ** 53 }),
  'exp infinite': sign(undefined, JSON.stringify(WHOLE).replace(String(WHOLE.exp), '1e999')),
  'iat negative': sign(undefined, { ...WHOLE, iat: -1 }),
  'ver as a string': sign(undefined, { ...WHOLE, ver: '3' }),
  'sub as a number': sign(undefined, { ...WHOLE, sub: 12_345_678 }),
  ...Object.fromEntries(
    Object.keys(WHOLE).map((name) => [`without ${name}`, sign(undefined, { ...WHOLE, [name]: undefined })]),
  ),
};

test('malformed, forged and expired tokens are refused', () => {
  assert.deepEqual(tokens.verify(sign(undefined, WHOLE), NOW), WHOLE, 'the signing function of the test is right');
  for (const [name, token] of Object.entries(FORGED)) assert.equal(tokens.verify(token, NOW), null, name);
});

test('valid tokens of other algorithms are refused', async () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const secrets = { HS384: NEW.secret, HS512: new Uint8Array(64).fill(2), RS256: rsa };
  for (const [alg, secret] of Object.entries(secrets)) {
    const token = await new SignJWT(WHOLE).setProtectedHeader({ alg, typ: 'JWT', kid: 'new' }).sign(secret);
    assert.equal(tokens.verify(token, NOW), null, alg);
  }
});

test('a token with any changed character is refused', () => {
  const position = fc.nat({ max: good.length - 1 });
  fc.assert(
    fc.property(position, fc.string({ unit: 'binary', minLength: 0, maxLength: 2 }), (at, text) => {
      const changed = good.slice(0, at) + text + good.slice(at + 1);
      fc.pre(changed !== good);
      assert.equal(tokens.verify(changed, NOW), null);
    }),
    { numRuns: 2_000 },
  );
});

/** A token has no length of 4n + 1 in base64url, so several lengths of the key name are tried. */
function verifiedOfLength(length: number): Claims | null {
  for (const kid of ['k', 'kk', 'kkk']) {
    const own = createTokens([key(kid, 3)], ISSUER);
    for (let letters = 2_700; letters < 3_000; letters++) {
      const token = own.sign({ ...CLAIMS, usr: 'x'.repeat(letters) });
      if (token.length === length) return own.verify(token, NOW);
    }
  }
  throw new Error(`no token has ${length} characters`);
}

function key(kid: string, fill: number): SigningKey {
  return { kid, secret: new Uint8Array(48).fill(fill), createdTs: fill };
}

function part(value: object | string, encoding: 'base64' | 'base64url' = 'base64url'): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString(encoding);
}

/** Signs any header and payload with a valid key. */
function sign(
  header: object | string = { alg: 'HS256', typ: 'JWT', kid: 'new' },
  payload: object | string,
  encoding: 'base64' | 'base64url' = 'base64url',
): string {
  const input = `${part(header)}.${part(payload, encoding)}`;
  return `${input}.${createHmac('sha256', NEW.secret).update(input).digest('base64url')}`;
}

function decode(token: string, index: number): unknown {
  return JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString());
}

/** 43 characters are 258 bits, a digest has 256: the last two bits are unused. */
function flipSpareBit(letter: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return alphabet[alphabet.indexOf(letter) ^ 1] ?? '';
}
