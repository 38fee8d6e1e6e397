import { type Argon2Parameters, argon2, argon2Sync, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { badRequest } from '../core/errors.ts';

const PASSWORD_MAX_BYTES = 1024;

type Cost = { memoryKib: number; passes: number; parallelism: number };
type StoredHash = { cost: Cost; salt: Buffer; tag: Buffer };

/** OWASP Password Storage Cheat Sheet for argon2id: 19 MiB, two passes, one lane. About 46 ms on the reference machine. */
const COST: Cost = { memoryKib: 19_456, passes: 2, parallelism: 1 };
/** RFC 9106 section 3.1 recommends 16 bytes of salt for password hashing. */
const SALT_BYTES = 16;
const TAG_BYTES = 32;

/** The PHC string format; 19 is version 1.3 of argon2, the only one that Node supports. Base64 without padding. */
const PHC = /^\$argon2id\$v=19\$m=(\d{1,8}),t=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,171})$/;

/** Runs on a thread of libuv's pool and does not block the event loop. */
const derive = promisify(argon2);

/**
 * Used in place of a stored hash when the account does not exist: the work is the same, and no known password has a
 * tag of zeros.
 */
export const DUMMY_HASH = format({ cost: COST, salt: Buffer.alloc(SALT_BYTES), tag: Buffer.alloc(TAG_BYTES) });

/** 144 bits, 24 characters: impossible to guess, short enough to type. */
const RANDOM_PASSWORD_BYTES = 18;

export function randomPassword(): string {
  return randomBytes(RANDOM_PASSWORD_BYTES).toString('base64url');
}

export function isUsablePassword(password: string): boolean {
  return password !== '' && Buffer.byteLength(password) <= PASSWORD_MAX_BYTES;
}

export function requireUsablePassword(password: string): void {
  if (isUsablePassword(password)) return;
  throw badRequest(`A password has 1 to ${PASSWORD_MAX_BYTES} bytes: choose another one.`);
}

/** `$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$…`: the PHC string includes algorithm, cost and salt. */
export async function hashPassword(password: string): Promise<string> {
  requireUsablePassword(password);
  const salt = randomBytes(SALT_BYTES);
  return format({ cost: COST, salt, tag: await derive('argon2id', parameters(password, COST, salt, TAG_BYTES)) });
}

/** Uses the cost in the hash, so that older hashes stay valid when `COST` is raised. */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const { cost, salt, tag } = parse(hash);
  return timingSafeEqual(await derive('argon2id', parameters(password, cost, salt, tag.length)), tag);
}

/** The same on the calling thread, for a worker thread that has no other work. */
export function verifyPasswordSync(password: string, hash: string): boolean {
  const { cost, salt, tag } = parse(hash);
  return timingSafeEqual(argon2Sync('argon2id', parameters(password, cost, salt, tag.length)), tag);
}

function parameters(password: string, cost: Cost, nonce: Buffer, tagLength: number): Argon2Parameters {
  const { memoryKib: memory, passes, parallelism } = cost;
  return { message: password, nonce, memory, passes, parallelism, tagLength };
}

function format({ cost, salt, tag }: StoredHash): string {
  return `$argon2id$v=19$m=${cost.memoryKib},t=${cost.passes},p=${cost.parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

/** Hashes come from the store only, so a malformed one is damaged data and not a wrong password. */
function parse(hash: string): StoredHash {
  const [whole, memoryKib, passes, parallelism, salt = '', tag = ''] = PHC.exec(hash) ?? [];
  if (whole === undefined) throw new Error('A stored password hash is damaged; set a new password for that account.');
  return {
    cost: { memoryKib: Number(memoryKib), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
