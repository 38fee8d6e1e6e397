import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { bounded } from './chunks.ts';

/**
 * Writes a stream to a temporary file with random access. The file is deleted right after it is opened, so closing the
 * handle frees it, also after `kill -9`.
 */
export async function toTemporaryFile(
  bytes: AsyncIterable<Buffer>,
  name: string,
  maxBytes: number,
): Promise<FileHandle> {
  const handle = await openUnnamedFile();
  try {
    const tooLarge = `${name}: larger than ${maxBytes} bytes; if you trust the source, raise --max-unpacked-bytes`;
    for await (const chunk of bounded(bytes, maxBytes, tooLarge)) await appendTo(handle, chunk);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** A temporary file that is already deleted: it exists until its handle is closed. */
export async function openUnnamedFile(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'urlwarden-')).catch(unusable);
  try {
    return await open(join(folder, 'packed'), 'wx+', 0o600).catch(unusable);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes at the end of a temporary file. */
export async function appendTo(handle: FileHandle, content: Buffer | string): Promise<void> {
  await handle.appendFile(content).catch(unusable);
}

/** No space on the disk, or none left of the user's quota. */
const FULL = new Set<string | undefined>(['ENOSPC', 'EDQUOT']);

/** Throws an error that names the folder: it is often a small disk of its own, while that of the data has space. */
function unusable(cause: NodeJS.ErrnoException): never {
  const [reason, advice] = FULL.has(cause.code)
    ? ['is full', 'make space in it']
    : [`cannot be used (${cause.code})`, 'check that it exists and can be written'];
  const message = `The folder for temporary files, ${tmpdir()}, ${reason}: ${advice}, or set the variable TMPDIR to another folder`;
  throw new AppError('unavailable', message, { cause });
}
