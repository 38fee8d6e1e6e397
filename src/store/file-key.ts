import { hash } from 'node:crypto';
import type { FileDetails } from '../core/records.ts';

const SHA256_BYTES = 32;
const DETAILS_KEY_BYTES = 16;

/**
 * What a file is found by, on every engine: its SHA-256, or, where an observation told only details, a shorter hash of
 * these. The two lengths keep the two kinds apart.
 */
export function fileKey(payload: FileDetails & { sha256: string | null }): Uint8Array {
  if (payload.sha256 !== null) return Buffer.from(payload.sha256, 'hex');
  const { mimeType, fileType, fileExt, fileSize, fileName, family } = payload;
  const details = JSON.stringify([mimeType, fileType, fileExt, fileSize, fileName, family]);
  return hash('sha256', details, 'buffer').subarray(0, DETAILS_KEY_BYTES);
}

export function sha256OfKey(key: Uint8Array | null): string | null {
  return key?.length === SHA256_BYTES ? Buffer.from(key).toString('hex') : null;
}
