import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { SigningKey } from './store.ts';

export type Claims = {
  iat: number;
  exp: number;
  iss: string;
  aud: string;
  sub: string;
  /** The username, for people who decode the token. */
  usr: string;
  jti: string;
  /** The generation of the account when the token was issued. */
  ver: number;
};

/** Signs with the newest key and verifies with all of them. */
export type Tokens = {
  sign(claims: Omit<Claims, 'iss' | 'aud'>): string;
  /** Null unless the token is valid at this time. */
  verify(token: string, nowTs: number): Claims | null;
  /** The token names a key that is not one of these, but may be a newer one. */
  hasUnknownKey(token: string): boolean;
};

const AUDIENCE = 'intel';

/** The longest token has a username of 254 control characters, six bytes each in JSON: 2,400 characters. */
const TOKEN_MAX_LENGTH = 4096;
/** Clocks of nodes differ, but less than this: a token issued further in the future is invalid. */
const CLOCK_SKEW_SECONDS = 60;

/** An HMAC of 32 bytes in base64url. */
export const SIGNATURE_LENGTH = 43;

/** RFC 7515 section 3.1, base64url without padding. */
const COMPACT = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;

/**
 * JSON Web Tokens (RFC 7519) with HS256 only. The header must equal, byte for byte, the header that `sign` writes for
 * one of the keys. So `kid` selects the key, the algorithm is fixed, and no part of a token is parsed before its
 * signature is verified.
 *
 * `keys` are newest first, as the store returns them.
 */
export function createTokens(keys: readonly SigningKey[], issuer: string): Tokens {
  const secrets = new Map(keys.map(({ kid, secret }) => [headerOf(kid), createSecretKey(secret)]));
  const [newest] = secrets;
  return {
    sign(claims) {
      if (newest === undefined)
        throw new Error('There is no key to sign with; create one with `urlwarden key rotate`.');
      const [header, secret] = newest;
      const input = `${header}.${encode({ ...claims, iss: issuer, aud: AUDIENCE } satisfies Claims)}`;
      return `${input}.${signatureOf(input, secret)}`;
    },
    verify(token, nowTs) {
      const [, header = '', payload = '', signature = ''] = partsOf(token);
      const secret = secrets.get(header);
      if (secret === undefined || !isEqual(signature, signatureOf(`${header}.${payload}`, secret))) return null;
      const claims = decode(payload);
      return isClaims(claims) && isCurrent(claims, issuer, nowTs) ? claims : null;
    },
    hasUnknownKey(token) {
      const [, header = ''] = partsOf(token);
      const { kid } = (decode(header) ?? {}) as { kid?: unknown };
      return typeof kid === 'string' && header === headerOf(kid) && !secrets.has(header);
    },
  };
}

function partsOf(token: string): readonly string[] {
  return token.length > TOKEN_MAX_LENGTH ? [] : (COMPACT.exec(token) ?? []);
}

function headerOf(kid: string): string {
  return encode({ alg: 'HS256', typ: 'JWT', kid });
}

function signatureOf(input: string, secret: KeyObject): string {
  return createHmac('sha256', secret).update(input).digest('base64url');
}

/** Compared as text, not decoded: the last character has spare bits, and only one value of them is accepted. */
function isEqual(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

function isClaims(value: unknown): value is Claims {
  const { iat, exp, iss, aud, sub, usr, jti, ver } = (value ?? {}) as Record<string, unknown>;
  return [iat, exp, ver].every(isCount) && [iss, aud, sub, usr, jti].every((text) => typeof text === 'string');
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isCurrent({ iat, exp, iss, aud }: Claims, issuer: string, nowTs: number): boolean {
  return iss === issuer && aud === AUDIENCE && iat <= nowTs + CLOCK_SKEW_SECONDS && iat < exp && nowTs < exp;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** Null unless `encode` returns the same text for the value: no other spelling, no duplicate key, no invalid UTF-8. */
function decode(text: string): unknown {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return typeof value === 'object' && value !== null && encode(value) === text ? value : null;
  } catch {
    return null;
  }
}
