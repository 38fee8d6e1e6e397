import { hash } from 'node:crypto';
import { sha256OfAscii } from '../core/sha256.ts';

/** Bytes of SHA-256 that identify a URL: at 10^9 URLs, two with one key are a matter of 1 in 10^20. */
const URL_KEY_BYTES = 16;

/** What a URL is found by, on every engine: an index on the text would double the table. Normal URLs are ASCII. */
export function urlKey(url: string): Uint8Array {
  return sha256OfAscii(url, URL_KEY_BYTES) ?? hash('sha256', url, 'buffer').subarray(0, URL_KEY_BYTES);
}
