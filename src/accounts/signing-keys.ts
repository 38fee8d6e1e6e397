import { hash, randomBytes } from 'node:crypto';
import { readPrivateFile } from '../config/private-file.ts';
import { AppError, badRequest } from '../core/errors.ts';
import type { AccountStore, SigningKey } from './store.ts';

/** RFC 7518 section 3.2: a key for HS256 has at least 32 bytes, the size of its hash. */
const SECRET_BYTES = 32;
/** 2^48 values, eight characters: two keys do not get the same id. */
const KID_BYTES = 6;

/**
 * How long a superseded key still verifies tokens: a token lives at most 24 days, and a node signs with the old key
 * until it has read the new one.
 */
const SUPERSEDED_KEY_SECONDS = 25 * 86_400;

/** The key that signs; creates one when the store has none, and then calls `onCreated` with its id. */
export async function ensureKey(
  store: AccountStore,
  ts: number,
  onCreated: (kid: string) => void = () => {},
): Promise<SigningKey> {
  const [newest] = await store.keys();
  if (newest !== undefined) return newest; // a write would wait until the writer thread has started
  const offered = newKey(ts);
  const signing = await store.ensureKey(offered);
  if (signing.kid === offered.kid) onCreated(signing.kid);
  return signing;
}

/** Before a rotation: while the keys are in a file, a key of the store signs nothing, and a revoked one stays valid. */
export function refuseKeyFile(hasKeyFile: boolean): void {
  if (!hasKeyFile) return;
  const hint =
    'add a key as the first line of that file and restart the servers; without the old lines, old tokens are invalid';
  throw badRequest(`The signing keys are in a file (--signing-key-file): ${hint}`);
}

/** Adds a key, which signs from now on. Tokens of older keys stay valid until they expire, unless `isImmediate`. */
export async function rotateKey(store: AccountStore, ts: number, isImmediate: boolean): Promise<SigningKey> {
  const key = newKey(ts);
  // The greatest number is later than any time at which a key was superseded, so all older keys are dropped.
  await store.addKey(key, isImmediate ? Number.MAX_SAFE_INTEGER : ts - SUPERSEDED_KEY_SECONDS);
  return key;
}

/** For programs; the names are stable. The newest key comes first and signs. A file has no times. */
export function keysJson(keys: readonly SigningKey[], isFromFile: boolean) {
  return keys.map(({ kid, createdTs }, i) => ({ kid, created_ts: isFromFile ? null : createdTs, signs: i === 0 }));
}

function newKey(createdTs: number): SigningKey {
  return { kid: randomBytes(KID_BYTES).toString('base64url'), secret: randomBytes(SECRET_BYTES), createdTs };
}

const HEXADECIMAL = /^(?:[0-9A-Fa-f]{2})+$/;
const BASE64URL = /^[\w-]+$/;

/**
 * Signing keys that the operator manages in a file: one secret per line, in base64url or hexadecimal. The first signs,
 * all verify.
 *
 *     9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08    signs
 *     4Kr2nO3Cq0mYJ7x1nq0v4b8R6cWl9yQzT5sUe2hXwPM                         signed before
 *
 * Error messages do not contain any text of the file.
 */
export function readKeyFile(path: string): SigningKey[] {
  const secrets = readPrivateFile(path, 'signing keys')
    .split('\n')
    .map((line) => line.trim())
    .map((line, i) => (line === '' ? null : secretOf(line, `line ${i + 1} of ${path}`)))
    .filter((secret) => secret !== null);
  if (secrets.length === 0) throw new AppError('unavailable', `${path} holds no signing key: ${HOW_TO}`);
  return secrets.map((secret) => ({ kid: kidOf(secret), secret, createdTs: 0 }));
}

const HOW_TO = `a secret is ${SECRET_BYTES} bytes or more in base64url or hexadecimal, for example from \`openssl rand -hex 32\``;

/** A hexadecimal text is also base64url; that a random base64url secret looks hexadecimal is too unlikely to matter. */
function secretOf(text: string, place: string): Buffer {
  const isHex = HEXADECIMAL.test(text);
  const secret = Buffer.from(text, isHex ? 'hex' : 'base64url');
  if ((isHex || BASE64URL.test(text)) && secret.length >= SECRET_BYTES) return secret;
  throw new AppError('unavailable', `There is no signing key in ${place}: ${HOW_TO}`);
}

/** The same on every node with this file. It reveals nothing about the secret: SHA-256 cannot be inverted. */
function kidOf(secret: Buffer): string {
  return hash('sha256', secret, 'buffer').subarray(0, KID_BYTES).toString('base64url');
}
