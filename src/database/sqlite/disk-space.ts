import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from '../../core/errors.ts';

const MB = 1_000_000;

/**
 * Batches leave this much of the disk free, so that `control.db` can always be written. A batch of 2,000 URLs spread over
 * 300,000 wrote 75 MB to the write-ahead log; the reserve is more than twice as much.
 */
const RESERVE_BYTES = 200 * MB;
/** On a disk of less than 1 GB the reserve is this share of it. */
const RESERVE_SHARE = 0.2;

/** A disk with less free space is full: not even a write of counters, some pages of 4 KiB, is sure to succeed. */
const FULL_BYTES = MB;

/** The free space of the disk of a file, for users other than root; null if the file system does not report it. */
export function freeBytes(path: string): number | null {
  return spaceOf(path)?.free ?? null;
}

/** The sizes of a database file and of its write-ahead log; 0 for a file that is missing. */
export function sizesOf(path: string): { fileBytes: number; walBytes: number } {
  return { fileBytes: sizeOf(path), walBytes: logBytes(path) };
}

export function isDiskFull(path: string): boolean {
  const free = freeBytes(path);
  return free !== null && free < FULL_BYTES;
}

/**
 * Whether a batch could fill the disk. Then the log must be in the database before the batch begins: on a full disk
 * SQLite could not copy it there, and so not give its space back.
 */
export function isSpaceScarce(path: string): boolean {
  const space = spaceOf(path);
  return space !== null && space.free < RESERVE_BYTES + logBytes(path);
}

/** Whether several batches in one transaction leave the reserve, each of which may write as much as the reserve. */
export function hasSpaceForBatches(path: string, count: number): boolean {
  const space = spaceOf(path);
  return space === null || space.free >= logBytes(path) + (count + 1) * space.reserve;
}

/** Throws unless a batch leaves the reserve. A checkpoint copies the log into the database, which may grow by as much. */
export function requireSpaceForBatch(path: string): void {
  requireSpace(path, logBytes(path));
}

/** Throws unless `bytes` fit on the disk of the file and leave the reserve. */
export function requireSpace(path: string, bytes: number): void {
  const space = spaceOf(path);
  if (space !== null && space.free < bytes + space.reserve) throw noSpace(path, space.free, bytes + space.reserve);
}

function noSpace(path: string, free: number, needed: number): AppError {
  // Rounded in opposite directions, so that the two are never equal.
  const space = `has ${Math.floor(free / MB)} MB left, but ${Math.ceil(needed / MB)} MB must be free`;
  return new AppError(
    'unavailable',
    `The disk of ${dirname(path)} ${space}, so that accounts and counters can always be written. Free some space, then try again; what is already stored stays`,
  );
}

function spaceOf(path: string): { free: number; reserve: number } | null {
  try {
    const { bsize, blocks, bavail } = statfsSync(dirname(path));
    if (blocks === 0) return null; // a file system without a size of its own
    return { free: bavail * bsize, reserve: Math.min(RESERVE_BYTES, blocks * bsize * RESERVE_SHARE) };
  } catch {
    return null;
  }
}

function logBytes(path: string): number {
  return sizeOf(`${path}-wal`);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
