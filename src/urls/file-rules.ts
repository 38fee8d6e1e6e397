import { hash } from 'node:crypto';
import type { FileDetails } from '../core/observation.ts';

export type Details = [
  mimeType: string | null,
  fileType: string | null,
  fileExt: string | null,
  fileSize: number | null,
  fileName: string | null,
];

/** What is known of a file. */
export type KnownFile = { familyId: number | null; details: Details };

/** A file after somebody told of it: what is told first stays. */
export function fillFile(known: KnownFile, told: KnownFile): KnownFile & { isChanged: boolean } {
  const details = known.details.map((value, i) => value ?? told.details[i] ?? null) as Details;
  const familyId = known.familyId ?? told.familyId;
  const isChanged = familyId !== known.familyId || details.some((value, i) => value !== known.details[i]);
  return { familyId, details, isChanged };
}

/** What a payload keeps itself: the details that differ from its file's. */
export function ownDetails(told: Details, file: Details): Details {
  return told.map((value, i) => (value === file[i] ? null : value)) as Details;
}

export function detailsOf({ mimeType, fileType, fileExt, fileSize, fileName }: FileDetails): Details {
  return [mimeType, fileType, fileExt, fileSize, fileName];
}

/** A file that a URL served: payloads are ordered by its time and its key. */
export type ServedFile = { ts: number; key: Uint8Array };

/** Oldest first. At equal times the greater key counts as newer, so that the order does not depend on arrival. */
export function comparePayloads(a: ServedFile, b: ServedFile): number {
  return a.ts - b.ts || Buffer.compare(a.key, b.key);
}

/** Whether a payload becomes the last payload of a URL that has `last` until now. */
export function isNewerPayload(payload: ServedFile, last: ServedFile | null): boolean {
  return last === null || comparePayloads(payload, last) > 0;
}

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
