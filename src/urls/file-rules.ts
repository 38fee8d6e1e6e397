import { hash } from 'node:crypto';
import { toHex } from '../core/byte-text.ts';
import type { FileDetails, ObservedPayload } from '../core/observation.ts';

/** The details of a file as columns, in the order of the tables. */
export type DetailColumns = [
  mimeType: string | null,
  fileType: string | null,
  fileExt: string | null,
  fileSize: number | null,
  fileName: string | null,
];

export type FileColumns = { familyId: number | null; details: DetailColumns };

/** Fills in the unknown columns of a stored file. The first value given for a column stays. */
export function fillFile(stored: FileColumns, given: FileColumns): FileColumns & { isChanged: boolean } {
  const details = stored.details.map((value, i) => value ?? given.details[i] ?? null) as DetailColumns;
  const familyId = stored.familyId ?? given.familyId;
  const isChanged = familyId !== stored.familyId || details.some((value, i) => value !== stored.details[i]);
  return { familyId, details, isChanged };
}

/** The details that a payload stores itself: those that differ from the details of its file. */
export function ownDetails(given: DetailColumns, file: DetailColumns): DetailColumns {
  return given.map((value, i) => (value === file[i] ? null : value)) as DetailColumns;
}

export function detailsOf({ mimeType, fileType, fileExt, fileSize, fileName }: FileDetails): DetailColumns {
  return [mimeType, fileType, fileExt, fileSize, fileName];
}

/** A file that a URL served: payloads are ordered by its time and its key. */
export type ServedFile = { ts: number; key: Uint8Array };

/** Oldest first. At equal times the greater key counts as newer, so that the order does not depend on arrival. */
export function comparePayloads(a: ServedFile, b: ServedFile): number {
  return a.ts - b.ts || Buffer.compare(a.key, b.key);
}

/** How many payloads of one URL and one second are sorted by `comparePayloads`; any more are in no defined order. */
export const MAX_TIES = 1_000;

/** Whether a payload becomes the last payload of a URL that has `last` until now. */
export function isNewerPayload(payload: ServedFile, last: ServedFile | null): boolean {
  return last === null || comparePayloads(payload, last) > 0;
}

/**
 * A payload with nothing but a family, as tags give it. It says less than a payload with a file and that family, so a URL
 * does not keep both: the bare one is not added, or it is deleted when the other one comes. Any order gives the same.
 */
export function isBare(payload: ObservedPayload): boolean {
  return payload.sha256 === null && payload.family !== null && detailsOf(payload).every((value) => value === null);
}

export const SHA256_BYTES = 32;
export const DETAILS_KEY_BYTES = 16;

/**
 * The key of a file, the same on every engine: its SHA-256, or a shorter hash of its details if the SHA-256 is unknown.
 * The length distinguishes the two.
 */
export function fileKey(payload: FileDetails & { sha256: string | null }): Uint8Array {
  if (payload.sha256 !== null) return Buffer.from(payload.sha256, 'hex');
  const { mimeType, fileType, fileExt, fileSize, fileName, family } = payload;
  const details = JSON.stringify([mimeType, fileType, fileExt, fileSize, fileName, family]);
  return hash('sha256', details, 'buffer').subarray(0, DETAILS_KEY_BYTES);
}

export function sha256OfKey(key: Uint8Array | null): string | null {
  return key?.length === SHA256_BYTES ? toHex(key) : null;
}
