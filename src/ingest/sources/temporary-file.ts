import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../core/errors.ts';

/**
 * Writes a stream to a temporary file that can be read in any order. The file has no name from the beginning, so that
 * closing the handle is all there is to clean up, also after `kill -9`.
 */
export async function toTemporaryFile(
  bytes: AsyncIterable<Buffer>,
  name: string,
  maxBytes: number,
): Promise<FileHandle> {
  const handle = await openNameless();
  try {
    let written = 0;
    for await (const chunk of bytes) {
      written += chunk.length;
      if (written > maxBytes) throw new AppError('bad_request', `${name}: longer than ${maxBytes} bytes`);
      await handle.writeFile(chunk);
    }
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

export async function openNameless(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'urlwarden-'));
  try {
    return await open(join(folder, 'packed'), 'wx+', 0o600);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
