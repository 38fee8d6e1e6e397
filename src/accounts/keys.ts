import { randomBytes } from 'node:crypto';
import type { Control, SigningKey } from '../store/control.ts';

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
export async function ensureKey(control: Control, ts: number): Promise<SigningKey> {
  return control.ensureKey(newKey(ts));
}

/**
 * From now on a new key signs. Tokens of the older ones live until they expire, unless `isImmediate`: then they are void.
 */
export async function rotateKey(control: Control, ts: number, isImmediate: boolean): Promise<SigningKey> {
  const key = newKey(ts);
  // No key was superseded as late as the greatest number, whatever the clocks said: all older ones go.
  await control.addKey(key, isImmediate ? Number.MAX_SAFE_INTEGER : ts - SUPERSEDED_KEY_SECONDS);
  return key;
}

function newKey(createdTs: number): SigningKey {
  return { kid: randomBytes(KID_BYTES).toString('base64url'), secret: randomBytes(SECRET_BYTES), createdTs };
}
