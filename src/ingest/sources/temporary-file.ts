import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
    for await (const chunk of bounded(bytes, maxBytes, tooLarge)) await handle.writeFile(chunk);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** A temporary file that is already deleted: it exists until its handle is closed. */
export async function openUnnamedFile(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'urlwarden-'));
  try {
    return await open(join(folder, 'packed'), 'wx+', 0o600);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
