import { hash, randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { AppError } from '../core/errors.ts';
import type { AccountStore, SigningKey } from './store.ts';

/** RFC 7518 section 3.2: a key of HS256 has at least the 32 bytes of its hash. */
export const SECRET_BYTES = 32;
/** Enough that two keys never have the same: 2^48, eight characters. */
export const KID_BYTES = 6;

/**
 * How long a superseded key still verifies: the longest life of a token is 24 days, and a node may sign with the old
 * key for a moment until it has seen the new one.
 */
export const SUPERSEDED_KEY_SECONDS = 25 * 86_400;

/** The key that signs, made when there is none. */
export async function ensureKey(control: AccountStore, ts: number): Promise<SigningKey> {
  return control.ensureKey(newKey(ts));
}

/**
 * From now on a new key signs. Tokens of the older ones live until they expire, unless `isImmediate`: then they are void.
 */
export async function rotateKey(control: AccountStore, ts: number, isImmediate: boolean): Promise<SigningKey> {
  const key = newKey(ts);
  // No key was superseded as late as the greatest number, whatever the clocks said: all older ones go.
  await control.addKey(key, isImmediate ? Number.MAX_SAFE_INTEGER : ts - SUPERSEDED_KEY_SECONDS);
  return key;
}

function newKey(createdTs: number): SigningKey {
  return { kid: randomBytes(KID_BYTES).toString('base64url'), secret: randomBytes(SECRET_BYTES), createdTs };
}

/** Read, write or execute for anyone but the owner. */
const OTHERS = 0o077;

const HEXADECIMAL = /^(?:[0-9A-Fa-f]{2})+$/;
const BASE64URL = /^[\w-]+$/;

/**
 * Signing keys that somebody else keeps: one secret a line, in base64url or hexadecimal. The first signs, all verify.
 *
 *     9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08    signs
 *     4Kr2nO3Cq0mYJ7x1nq0v4b8R6cWl9yQzT5sUe2hXwPM                         was first until lately
 *
 * What is wrong with it is told without a word of what is in it.
 */
export function readKeyFile(path: string): SigningKey[] {
  const secrets = readOwnFile(path)
    .split('\n')
    .map((line) => line.trim())
    .map((line, i) => (line === '' ? null : secretOf(line, `line ${i + 1} of ${path}`)))
    .filter((secret) => secret !== null);
  if (secrets.length === 0) throw new AppError('unavailable', `${path} holds no signing key: ${HOW_TO}`);
  return secrets.map((secret) => ({ kid: kidOf(secret), secret, createdTs: 0 }));
}

const HOW_TO = `a secret is ${SECRET_BYTES} bytes or more in base64url or hexadecimal, such as \`openssl rand -hex 32\` makes`;

function readOwnFile(path: string): string {
  try {
    const { mode } = statSync(path);
    if ((mode & OTHERS) === 0) return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new AppError('unavailable', `The signing keys cannot be read: ${(cause as Error).message}`, { cause });
  }
  throw new AppError('unavailable', `${path} holds signing keys and is open to other users: run chmod 600 on it`);
}

/** All of hexadecimal is base64url too; that a random secret has no other letter will not happen. */
function secretOf(text: string, place: string): Buffer {
  const isHex = HEXADECIMAL.test(text);
  const secret = Buffer.from(text, isHex ? 'hex' : 'base64url');
  if ((isHex || BASE64URL.test(text)) && secret.length >= SECRET_BYTES) return secret;
  throw new AppError('unavailable', `There is no signing key in ${place}: ${HOW_TO}`);
}

/** The same on every node that has the file. It tells nothing: who could undo the hash could guess the secret. */
function kidOf(secret: Buffer): string {
  return hash('sha256', secret, 'buffer').subarray(0, KID_BYTES).toString('base64url');
}
