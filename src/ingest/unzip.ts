import { open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { type Entry, fromFdPromise, type ZipFile } from 'yauzl';
import { AppError } from '../core/errors.ts';
import type { InputLimits } from './format.ts';
import { inflate } from './unpack.ts';

const STORED = 0;
const DEFLATED = 8;

/** The text file inside a zip file. `onPacked` hears of every packed byte that was read. */
export async function* unzip(
  path: string,
  name: string,
  limits: InputLimits,
  onPacked: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const handle = await open(path);
  try {
    yield* unzipFd(handle.fd, name, limits, onPacked);
  } finally {
    await handle.close();
  }
}

export async function* unzipFd(
  fd: number,
  name: string,
  limits: InputLimits,
  onPacked: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const zip = await readable(name, () => fromFdPromise(fd, { autoClose: false }));
  const entry = await readable(name, () => onlyFile(zip, name));
  const packed = await readable(name, () => zip.openReadStreamPromise(entry, { decodeFileData: false }));
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of packed as AsyncIterable<Buffer>) {
      onPacked(chunk.length);
      yield chunk;
    }
  }
  yield* checked(entry.compressionMethod === STORED ? counted() : inflate(counted(), name, limits), entry, name);
}

/** Directories do not count. A second file is refused, not chosen from. */
async function onlyFile(zip: ZipFile, name: string): Promise<Entry> {
  let only: Entry | null = null;
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith('/')) continue;
    if (only !== null) throw refused(`${name}: the zip file holds several files; exactly one text file is needed`);
    only = entry;
  }
  if (only === null) throw refused(`${name}: the zip file holds no file`);
  if (only.isEncrypted()) throw refused(`${name}: the zip file is encrypted; unpack it first`);
  if (only.compressionMethod !== STORED && only.compressionMethod !== DEFLATED) {
    throw refused(`${name}: the zip file is packed by method ${only.compressionMethod}; only deflate is understood`);
  }
  return only;
}

async function* checked(chunks: AsyncIterable<Buffer>, entry: Entry, name: string): AsyncGenerator<Buffer> {
  let bytes = 0;
  let checksum = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    checksum = crc32(chunk, checksum);
    yield chunk;
  }
  if (bytes !== entry.uncompressedSize || checksum !== entry.crc32) {
    throw refused(`${name}: the zip data are damaged; fetch or copy the file again`);
  }
}

/** What yauzl throws tells of damage, in its own words. */
async function readable<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof AppError || !(error instanceof Error)) throw error;
    throw refused(`${name}: the zip file cannot be read, perhaps because its end is missing (${error.message})`, error);
  }
}

function refused(message: string, cause?: unknown): AppError {
  return new AppError('bad_request', message, { cause });
}
